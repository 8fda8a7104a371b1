"""Pytrees as text: ``({"x": *}, [*, *])``, and the names of their leaves."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from torch.utils import _pytree as pytree

from guard.ir.literals import word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def tree_text(spec: Any) -> str:
    """Text of a TreeSpec."""
    if spec.type is None:
        return "*"
    children = [tree_text(child) for child in _children(spec)]
    if spec.type is tuple:
        return f"({', '.join(children)}{',' if len(children) == 1 else ''})"
    if spec.type is list:
        return f"[{', '.join(children)}]"
    if spec.type is dict:
        keys = [json.dumps(key) if isinstance(key, str) else json.dumps(repr(key)) for key in spec.context]
        return "{" + ", ".join(f"{key}: {child}" for key, child in zip(keys, children, strict=True)) + "}"
    return f"{word(spec.type.__name__)}({', '.join(children)})"


def _children(spec: Any) -> list[Any]:
    # TreeSpec.children_specs became children() and warns since
    children = getattr(type(spec), "children", None)
    return list(spec.children() if callable(children) else spec.children_specs)


def out_tree_text(spec: Any) -> str | None:
    """None for one leaf and for a flat tuple of several: what ``-> (a, b)`` already says."""
    text = tree_text(spec)
    flat = spec.type is tuple and spec.num_leaves > 1 and text == f"({', '.join('*' * spec.num_leaves)})"
    return None if text == "*" or flat else text


def in_tree_text(spec: Any) -> str | None:
    """Text of the spec of ``(args, kwargs)``; None where all are positional leaves."""
    text = tree_text(spec)
    leaves = spec.num_leaves
    inner = ", ".join("*" * leaves) + ("," if leaves == 1 else "")
    return None if text == f"(({inner}), {{}})" else text


def leaf_names(
    program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], taken: Iterable[str] = ()
) -> list[str]:
    """Name each flat leaf of ``(args, kwargs)`` by the program's parameter and its path: ``batch.x``, ``xs.0``.

    No name is in ``taken`` (a module's parameters), and none is a number alone: those are the nodes' names.
    """
    parameters = parameter_names(program, len(args))
    leaves, _ = pytree.tree_flatten_with_path((args, kwargs))
    return distinct([_leaf_name(path, parameters) for path, _ in leaves], taken)


def _leaf_name(path: tuple[Any, ...], parameters: list[str]) -> str:
    inside_args = _key(path[0]) == "0"
    head = parameters[int(_key(path[1]))] if inside_args else _key(path[1])
    return ".".join([head, *(_key(key) for key in path[2:])])


def _key(entry: Any) -> str:
    for attribute in ("idx", "key", "name"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry).strip(".[]'\"")


def parameter_names(program: Callable[..., Any], count: int) -> list[str]:
    """Name the first ``count`` positional arguments of a function or of a module's forward."""
    names: list[str] = []
    try:
        target = program.forward if hasattr(program, "forward") and hasattr(program, "named_parameters") else program
        for parameter in inspect.signature(target).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{parameter.name}.{i}" for i in range(max(0, count - len(names)))]
            elif parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}:
                names.append(parameter.name)
    except (TypeError, ValueError):  # a builtin has no signature
        pass
    return names[:count] + [f"arg{i}" for i in range(len(names), count)]


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Make names differ from each other, from ``taken`` and from the nodes' numbers."""
    used = set(taken)
    found = []
    for name in names:
        base = f"input.{name}" if name.isdigit() else name
        candidate, number = base, 1
        while candidate in used:
            candidate, number = f"{base}.{number}", number + 1
        found.append(candidate)
        used.add(candidate)
    return found

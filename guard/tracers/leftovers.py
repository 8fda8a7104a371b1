"""Tensors of a trace that it leaves in a module's own state, where the program that is called next meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.tracers.data import inner_tensors, is_of_a_trace
from guard.tracers.parameters import modules_of
from guard.tracers.state import modes_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DEPTH = 4  # containers within containers that are looked through
_OWN = frozenset(("_parameters", "_buffers", "_modules"))


def leftover(program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str] | None:
    """Return the path and the class of a tensor that a trace has left and that the next call meets, None without.

    To be called when the trace has ended and nothing is put back yet. One that nothing reads, such as the last of a
    log, is left out: calling the program again tells.
    """
    with modes_off():
        if any(_is_left(leaf) for leaf in pytree.tree_leaves((args, kwargs))):
            return None  # the program itself is fake
        found = next((left for module in modules_of(program) for left in _of_module(module)), None)
    return found if found is not None and _is_met(program, args, kwargs) else None


def _is_met(program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        result = program(*args, **kwargs)
    except Exception:  # noqa: BLE001 - it did not fail before the trace
        return True
    with modes_off():
        return any(_is_left(leaf) for leaf in pytree.tree_leaves(result))


def _of_module(module: torch.nn.Module) -> Iterator[tuple[str, str]]:
    for prefix, part in module.named_modules():
        own = {name: value for name, value in vars(part).items() if name not in _OWN}
        for name, value in {**own, **part._buffers}.items():
            yield from _of_value(f"{prefix}.{name}" if prefix else name, value, _DEPTH)


def _of_value(path: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, torch.Tensor):
        if _is_left(value):
            yield path, type(value).__name__
    elif depth and isinstance(value, dict):
        for key, item in value.items():
            yield from _of_value(f"{path}[{key!r}]", item, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _of_value(f"{path}[{index}]", item, depth - 1)


def _is_left(value: Any) -> bool:
    if not isinstance(value, torch.Tensor):
        return False
    if is_traceable_wrapper_subclass(value):
        return type(value).__name__ == "FunctionalTensor" or any(map(_is_left, inner_tensors(value).values()))
    return is_of_a_trace(value)

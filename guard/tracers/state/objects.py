"""Modules and containers that a program may change: found from it and its arguments, put back by identity.

A container is restored where it is an argument, part of one, or a module's attribute. What a function closes over is
restored only where it is a module or a tensor: a list that it appends to is how a check observes it.
"""

from __future__ import annotations

import functools
import types
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree

from guard.tracers.state.tensors import SavedTensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DEPTH = 3  # functions within functions that are looked through


class SavedObjects:
    """What modules, containers and tensors were. Add and restore with modes off."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # the objects too: an id is one's own only while it lives
        self._undo: list[Callable[[], None]] = []
        self._tensors = SavedTensors()

    def add(self, value: Any) -> None:
        """Note a value and what it holds: tensors, modules, dicts, lists, sets, deques, tuples, to any depth."""
        waiting = [value]
        while waiting:
            found = waiting.pop()
            if id(found) not in self._seen:
                self._seen[id(found)] = found
                waiting += self._note(found)

    def add_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the arguments, and the leaves of nodes that only the pytree registry can open."""
        self.add([args, kwargs, pytree.tree_leaves((args, kwargs))])

    def add_program(self, program: Any, depth: int = _DEPTH) -> None:
        """Note the modules and tensors that a program reaches by closure, partial, method or global name."""
        if isinstance(program, torch.nn.Module | torch.Tensor):
            self.add(program)
        elif depth > 0:
            for inner in _reached(program):
                self.add_program(inner, depth - 1)

    def restore(self) -> None:
        """Put every container and module back, then every tensor."""
        for undo in self._undo:
            undo()
        self._tensors.restore()

    def _note(self, value: Any) -> Iterable[Any]:
        """Save one value's own part; return what to look at next."""
        if isinstance(value, torch.Tensor):
            self._tensors.add(value)
            return ()
        if isinstance(value, torch.nn.Module):
            return (vars(value),)
        if isinstance(value, dict):
            self._undo.append(functools.partial(_restore_dict, value, list(value.items())))
            return list(value.values())
        if isinstance(value, list | set | deque):
            self._undo.append(functools.partial(_restore_items, value, list(value)))
            return list(value)
        return value if isinstance(value, tuple | frozenset) else ()


def _restore_dict(container: Any, items: list[tuple[Any, Any]]) -> None:
    now = list(container.items())
    if len(now) == len(items) and all(a is c and b is d for (a, b), (c, d) in zip(now, items, strict=True)):
        return
    # a subclass's own update may count or convert (collections.Counter)
    kind: Any = OrderedDict if isinstance(container, OrderedDict) else dict
    kind.clear(container)
    for key, item in items:
        kind.__setitem__(container, key, item)


def _restore_items(container: Any, items: list[Any]) -> None:
    kind: Any = next(kind for kind in (list, set, deque) if isinstance(container, kind))
    kind.clear(container)
    (kind.update if kind is set else kind.extend)(container, items)


def _reached(program: Any) -> list[Any]:
    if isinstance(program, functools.partial):
        return [program.func, *program.args, *program.keywords.values()]
    if isinstance(program, types.MethodType):
        return [program.__self__, program.__func__]
    if not isinstance(program, types.FunctionType) or (program.__module__ or "").partition(".")[0] == "torch":
        return []
    used = (program.__globals__.get(name) for name in program.__code__.co_names)
    return [*_contents(program), *(value for value in used if value is not None)]


def _contents(function: types.FunctionType) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]


def _is_filled(cell: types.CellType) -> bool:
    """Tell whether a cell holds something: one that a later line fills says so only by raising."""
    try:
        cell.cell_contents  # noqa: B018 - the access is the question
    except ValueError:
        return False
    return True

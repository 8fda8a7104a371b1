"""Sizes of an outer symbolic trace that an inner trace closes over.

A tensor that an inner trace closes over becomes its constant; a SymInt would raise "is not tracked with proxy", for the
inner tracer never saw its symbol. Bake it in as a number, as it is in the same program under an outer real trace.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.fx.experimental.proxy_tensor as pt

from guard.tracers.fixes.patch import Patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Baked(int):
    """A number where torch expects a proxy: symbolic arithmetic takes ``.node`` of what it fetched."""

    @property
    def node(self) -> int:
        return int(self)


class _BakedSlot:
    """What stands in a proxy slot: a thunk that is already known."""

    def __init__(self, value: int) -> None:
        self._value = value

    def force(self) -> int:
        return _Baked(self._value)


class _Outer(threading.local):
    def __init__(self) -> None:
        self.tracers: list[Any] = []


_OUTER = _Outer()


@contextmanager
def baked(tracer: Any) -> Iterator[None]:
    """Inside, sizes that only ``tracer`` (the suspended outer one; None: nothing to bake) knows are numbers."""
    _OUTER.tracers.append(tracer)
    try:
        with _SLOT.installed():
            yield
    finally:
        _OUTER.tracers.pop()


def _make_slot(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_proxy_slot(obj: Any, tracer: Any, *rest: Any, **named: Any) -> Any:
        try:
            return original(obj, tracer, *rest, **named)
        except RuntimeError:
            value = _value_outside(obj)
            if value is None:
                raise
            return _BakedSlot(value)

    return get_proxy_slot


_SLOT = Patch(lambda: pt, "get_proxy_slot", _make_slot)


def _value_outside(obj: Any) -> int | None:
    """Give the size's example value, without a guard on it, where an outer tracer knows all of its symbols."""
    if not isinstance(obj, torch.SymInt):
        return None
    symbols = obj.node.expr.free_symbols
    if not any(
        tracer is not None and all(s in tracer.sympy_expr_tracker for s in symbols) for tracer in _OUTER.tracers
    ):
        return None
    hint = getattr(obj.node, "hint", None)  # None or absent: unbacked, or another torch's spelling
    return int(hint) if isinstance(hint, int) else None

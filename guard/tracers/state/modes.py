"""The stacks of modes that a program may leave something on: read, emptied, put back."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.overrides
from torch.autograd import forward_ad
from torch.utils import _python_dispatch as dispatch

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def modes_off() -> Iterator[None]:
    """Do guard's own tensor work: no TorchFunction or TorchDispatch mode, no autograd; all are back afterwards."""
    # torch 2.9 crashes when it pops a mode that only its stack holds, one that a program left behind: hold them all
    held = dispatch._get_current_dispatch_mode_stack()
    with torch._C.DisableTorchFunction(), dispatch._disable_current_modes(), torch.no_grad():
        yield
    held.clear()


@dataclass(frozen=True)
class Modes:
    """What was on the stacks."""

    function: tuple[Any, ...]
    dispatch: tuple[Any, ...]
    pre_dispatch: int
    functorch: int
    forward_ad: int


def read() -> Modes:
    """Note the stacks as they are."""
    return Modes(
        tuple(torch.overrides._get_current_function_mode_stack()),
        tuple(dispatch._get_current_dispatch_mode_stack()),
        _pre_dispatch_depth(),
        _functorch_depth(),
        forward_ad._current_level,
    )


def restore(modes: Modes) -> None:
    """Take off what was left, put back what was taken; a stack that did not change is not touched."""
    _restore_functorch(modes)
    _restore_function_modes(modes.function)
    while _pre_dispatch_depth() > modes.pre_dispatch:
        torch._ops._pop_mode_from_pre_dispatch()
    _restore_dispatch_modes(modes.dispatch)


def _restore_function_modes(before: tuple[Any, ...]) -> None:
    now = torch.overrides._get_current_function_mode_stack()
    if _differ(now, before):
        for _ in now:
            torch.overrides._pop_mode()
        for mode in before:
            torch.overrides._push_mode(mode)


def _restore_dispatch_modes(before: tuple[Any, ...]) -> None:
    # "now" keeps them alive, see modes_off
    now = dispatch._get_current_dispatch_mode_stack()
    if _differ(now, before):
        for _ in now:
            dispatch._pop_mode()
        for mode in before:
            dispatch._push_mode(mode)


def _restore_functorch(modes: Modes) -> None:
    """Pop what a failing strict export (hessian, vmap of grad) leaves: later captures would fail (torch 2.9 - 2.14)."""
    while _functorch_depth() > modes.functorch:
        torch._C._functorch.pop_dynamic_layer_stack()
    while forward_ad._current_level > modes.forward_ad:
        forward_ad.exit_dual_level()


def _differ(now: Any, before: tuple[Any, ...]) -> bool:
    return len(now) != len(before) or any(one is not other for one, other in zip(now, before, strict=True))


def _functorch_depth() -> int:
    return len(torch._C._functorch.get_interpreter_stack() or ())


def _pre_dispatch_depth() -> int:
    depth: int = torch._ops._len_torch_dispatch_stack_pre_dispatch()
    return depth

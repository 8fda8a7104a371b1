"""What an enclosing trace leaves in force around a nested one, and how to take it away for a while.

Three things reach from an outer ``make_fx`` into an inner one: the outer proxy mode, the outer tracer's own
TorchFunction modes (under pre_dispatch they record ``torch._C._set_grad_enabled`` and functorch levels), and, inside
AOTAutograd, functional arguments that only mean something under AOTAutograd's functional mode. The user's own modes
stay.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.fx.experimental.proxy_tensor as pt
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch._subclasses.functional_tensor import FunctionalTensor, disable_functional_mode
from torch.overrides import _pop_mode, _push_mode

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRACER_FUNCTION_MODES = tuple(
    mode
    for name in ("TorchFunctionMetadataMode", "PreDispatchTorchFunctionMode")
    if (mode := getattr(pt, name, None)) is not None
)


def is_nested(args: tuple[Any, ...]) -> bool:
    """Tell whether a trace that starts now with ``args`` runs inside another one.

    AOTAutograd first runs a program without any proxy mode, to learn what it mutates: there only the arguments tell.
    A functional mode alone says nothing: AOTAutograd enters one around its own outermost make_fx.
    """
    return pt.get_proxy_mode() is not None or has_functional(args)


def has_functional(args: tuple[Any, ...]) -> bool:
    """Tell whether an argument is wrapped by AOTAutograd's functionalization."""
    return any(isinstance(leaf, FunctionalTensor) for leaf in pytree.tree_leaves(args))


@contextmanager
def suspended(args: tuple[Any, ...], tracing_mode: str) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Trace as if nothing were being traced: yield the arguments to use, and the outer tracer (None without one)."""
    with ExitStack() as stack:
        outer = stack.enter_context(pt.disable_proxy_modes_tracing())
        stack.enter_context(_without_tracer_function_modes())
        if has_functional(args):
            # unwrapped first: a functional tensor can be synchronised only while its mode is on
            args = pytree.tree_map_only(FunctionalTensor, _unwrapped, args)
            stack.enter_context(disable_functional_mode())
        if tracing_mode == "symbolic" and _fake_mode_without_shapes(args):
            stack.enter_context(unset_fake_temporarily())
            stack.enter_context(torch._guards.tracing(None))
            args = _with_symbols(args)
        yield args, getattr(outer, "tracer", None)


@contextmanager
def _without_tracer_function_modes() -> Iterator[None]:
    """Lift the outer tracers' TorchFunction modes off the stack, keep the user's in their order."""
    modes = [_pop_mode() for _ in range(torch._C._len_torch_function_stack())][::-1]
    kept = [mode for mode in modes if not isinstance(mode, _TRACER_FUNCTION_MODES)]
    _push_all(kept)
    try:
        yield
    finally:
        for _ in kept:
            _pop_mode()
        _push_all(modes)


def _push_all(modes: list[Any]) -> None:
    for mode in modes:
        _push_mode(mode)


def _unwrapped(tensor: Any) -> Any:
    """Take a functional tensor's current value, with the outer requires_grad flag on a tensor of its own."""
    torch._sync(tensor)
    value = torch._from_functional_tensor(tensor.elem)
    return value.detach().requires_grad_() if tensor.requires_grad else value


def _fake_mode_without_shapes(args: tuple[Any, ...]) -> bool:
    """AOTAutograd traces static programs with a fake mode that has no shape_env: no symbol can be made in it."""
    mode = torch._guards.detect_fake_mode(args)
    return mode is not None and mode.shape_env is None


def _with_symbols(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Make the fake arguments anew in a mode of their own, where sizes can become symbols."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode(allow_fallback_kernels=False, shape_env=ShapeEnv())
    leaves, spec = pytree.tree_flatten(args)
    fresh = [
        _symbolic(mode, leaf, place) if isinstance(leaf, FakeTensor) else leaf for place, leaf in enumerate(leaves)
    ]
    rebuilt: tuple[Any, ...] = pytree.tree_unflatten(fresh, spec)
    return rebuilt


def _symbolic(mode: Any, tensor: Any, place: int) -> Any:
    """Make one fake tensor anew; the context is explicit, since torch >= 2.13 takes a fake one's sizes for static."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext

    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DUCK] * tensor.dim())
    return mode.from_tensor(tensor, source=ConstantSource(f"input{place}"), symbolic_context=context)

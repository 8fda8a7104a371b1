"""A make_fx that runs while another trace is running leaves no node, no proxy and no error in it (pytorch#93290).

Every check guards the *outer* graph: it must be the graph that the program gives without its inner trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
import torch
from torch import Tensor
from torch.func import grad, jacrev, jvp, vmap
from torch.fx.experimental.proxy_tensor import get_isolated_graphmodule, make_fx, wrapper_and_args_for_make_fx
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode

from guard import AotJoint, MakeFx

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.session.guard import Guard

    Mode = Literal["real", "fake", "symbolic"]

MODES: tuple[Mode, ...] = ("real", "fake", "symbolic")
outer_mode = pytest.mark.parametrize("outer", MODES)
inner_mode = pytest.mark.parametrize("inner", MODES)


def trace(func: Callable[..., Any], args: tuple[Any, ...], mode: Mode, kwargs: dict[str, Any] | None = None) -> None:
    """Trace a call with its arguments flattened, as torch's own helper for inner traces does."""
    flat, leaves = wrapper_and_args_for_make_fx(func, args, kwargs or {})
    make_fx(flat, tracing_mode=mode)(leaves)


def trace_in_every_mode(func: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Trace a call once in each tracing mode."""
    for mode in MODES:
        trace(func, args, mode, kwargs)


class TraceInside(TorchFunctionMode):
    """Trace each call of one torch function on its own before it runs."""

    def __init__(self, name: str, *modes: Mode) -> None:
        super().__init__()
        self.name, self.modes = name, modes

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if resolve_name(func) == self.name:
            for mode in self.modes:
                trace(func, args, mode, kwargs)
        return func(*args, **(kwargs or {}))


class TraceEveryOperator(TorchDispatchMode):
    """Trace each operator on its own before it runs."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        trace_in_every_mode(func, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def wave(x: Tensor) -> Tensor:
    """Two operators and no scalar, which jvp would turn into tensors of zeros."""
    return x.sin() * x


def expand(a: Tensor, b: Tensor) -> Tensor:
    """The program of pytorch#93290."""
    return b.expand([1, a.shape[0], b.shape[-1]])


@pytest.fixture
def matrix(guard_device: str) -> Tensor:
    """The argument of most programs, on the device of this run."""
    return torch.linspace(0.1, 1.0, 12, device=guard_device).reshape(3, 4)


@inner_mode
@outer_mode
def test_expand_in_function_mode(guard: Guard, matrix: Tensor, outer: Mode, inner: Mode) -> None:
    """The program of pytorch#93290: the traced expand, and none of the inner trace's detaches and second expand."""
    with TraceInside("torch.Tensor.expand", inner):
        capture = guard.check(expand, matrix, matrix[0].clone(), tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.expand.default") == 1
    assert capture.graph("main").count("aten.detach.default") == 0


@inner_mode
@outer_mode
def test_direct(guard: Guard, matrix: Tensor, outer: Mode, inner: Mode) -> None:
    """A program that calls make_fx itself, on the arguments that the outer trace tracks."""

    def program(x: Tensor) -> Tensor:
        make_fx(wave, tracing_mode=inner)(x)
        return wave(x)

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.sin.default") == 1


@outer_mode
def test_started_from_function_mode(guard: Guard, matrix: Tensor, outer: Mode) -> None:
    """A TorchFunctionMode that the program enters while it is traced, on an intermediate value."""

    def program(x: Tensor) -> Tensor:
        y = x + 1
        with TraceInside("torch.Tensor.sin", *MODES):
            return wave(y)

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.sin.default") == 1


@outer_mode
def test_started_from_dispatch_mode(guard: Guard, matrix: Tensor, outer: Mode) -> None:
    """A TorchDispatchMode sits below autograd, next to the tracer's own mode."""

    def program(x: Tensor) -> Tensor:
        with TraceEveryOperator():
            return wave(x).sum()

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.sin.default") == 1


def traced_wave(x: Tensor) -> Tensor:
    """Wave with its own traces before it."""
    trace_in_every_mode(wave, x)
    return wave(x)


def traced_energy(x: Tensor) -> Tensor:
    """A scalar, for what differentiates."""
    return traced_wave(x).sum()


TRANSFORMS = {
    "vmap": vmap(traced_energy),
    "grad": grad(traced_energy),
    "grad-of-grad": grad(lambda x: grad(traced_energy)(x).sum()),
    "jacrev": jacrev(traced_wave),
    # an intermediate: jvp's own dual is a view, which torch cannot turn into a fake tensor even without an outer trace
    "jvp": lambda x: jvp(lambda t: traced_wave(t.cos()), (x,), (torch.ones_like(x),)),
}


@outer_mode
@pytest.mark.parametrize("transform", list(TRANSFORMS))
def test_inside_transform(guard: Guard, matrix: Tensor, outer: Mode, transform: str) -> None:
    """A functorch transform wraps the values that the inner trace starts from; its levels must not leak either."""
    capture = guard.check(TRANSFORMS[transform], matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.sin.default") >= 1


@inner_mode
@outer_mode
def test_inside_cond_branch(guard: Guard, guard_device: str, matrix: Tensor, outer: Mode, inner: Mode) -> None:
    """A branch's body is traced *with* its parent in sight; only the make_fx in it is isolated."""

    def branch(x: Tensor) -> Tensor:
        make_fx(wave, tracing_mode=inner)(x)
        return wave(x)

    def program(flag: Tensor, x: Tensor) -> Tensor:
        return torch.ops.higher_order.cond(flag, branch, torch.cos, (x,))

    flag = torch.ones((), dtype=torch.bool, device=guard_device)
    capture = guard.check(program, flag, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("higher_order.cond") == 1


@outer_mode
def test_three_deep(guard: Guard, matrix: Tensor, outer: Mode) -> None:
    """An inner trace is itself an outer one: a trace in a trace in a trace."""

    def middle(x: Tensor) -> Tensor:
        trace_in_every_mode(wave, x)
        return x.cos()

    def program(x: Tensor) -> Tensor:
        trace_in_every_mode(middle, x)
        return wave(x)

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.cos.default") == 0


@pytest.mark.parametrize("inner", ["inner-dispatch", "inner-pre-dispatch"])
@outer_mode
def test_pre_dispatch(guard: Guard, matrix: Tensor, outer: Mode, inner: str) -> None:
    """Under pre_dispatch the tracer also records mode changes, and an inner trace turns autograd off and on."""

    def program(x: Tensor) -> Tensor:
        for mode in MODES:
            make_fx(wave, tracing_mode=mode, pre_dispatch=inner == "inner-pre-dispatch")(x)
        return wave(x)

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer, pre_dispatch=True))
    assert capture.graph("main").count("torch._C._set_grad_enabled") == 0
    assert capture.graph("main").count("aten.sin.default") == 1


class Model(torch.nn.Module):
    """A model that traces a draw of random numbers in its forward: AOTAutograd drops dead nodes, but no dead draw."""

    def __init__(self, weight: Tensor, inner: Mode) -> None:
        super().__init__()
        self.weight, self.inner = torch.nn.Parameter(weight), inner

    def forward(self, x: Tensor) -> Tensor:
        make_fx(torch.rand_like, tracing_mode=self.inner)(x)
        return wave(x * self.weight)


@inner_mode
def test_inside_joint_trace(guard: Guard, matrix: Tensor, inner: Mode) -> None:
    """AOTAutograd traces forward and backward with make_fx: a trace in the model's forward is an inner one."""
    capture = guard.check(Model(matrix[0].clone(), inner), matrix, tracer=AotJoint())
    assert capture.graph("joint").count("aten.rand_like.default") == 0


@inner_mode
@outer_mode
def test_closes_over_outer_value(guard: Guard, matrix: Tensor, outer: Mode, inner: Mode) -> None:
    """An inner trace that reads a value of the outer program keeps it as its own constant."""

    def program(x: Tensor) -> Tensor:
        y = x.cos()
        make_fx(lambda t: t * y, tracing_mode=inner, _allow_non_fake_inputs=True)(x)
        return x * y

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.mul.Tensor") == 1


@inner_mode
@outer_mode
def test_inner_graph_is_called(guard: Guard, matrix: Tensor, outer: Mode, inner: Mode) -> None:
    """An inner graph that the outer program calls is traced through, once."""

    def program(x: Tensor) -> Tensor:
        return make_fx(wave, tracing_mode=inner)(x)(x)

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.sin.default") == 1


@inner_mode
@outer_mode
def test_isolated_graphmodule(guard: Guard, matrix: Tensor, outer: Mode, inner: Mode) -> None:
    """get_isolated_graphmodule is torch's own way to an isolated inner trace."""

    def program(x: Tensor) -> Tensor:
        get_isolated_graphmodule(wave, (x,), {}, tracing_mode=inner)
        return wave(x)

    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.sin.default") == 1


@outer_mode
def test_nested_grad_without_inner_trace(guard: Guard, matrix: Tensor, outer: Mode) -> None:
    """Isolation is for make_fx alone: each level of a nested grad is still recorded, once."""
    program = grad(lambda x: grad(lambda t: t.sin().sum())(x).sum())
    capture = guard.check(program, matrix, tracer=MakeFx(tracing_mode=outer))
    assert capture.graph("main").count("aten.ones_like.default") == 2

"""A nested trace leaves the outer graph as it is without it, wherever the nested one starts."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import pytest
import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_function
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.proxy_tensor import get_isolated_graphmodule, make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from guard.tracers.fixes import nested_isolation as fix
from guard.tracers.fixes.nested_programs import MODES, in_function_mode, nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    Inner = Callable[..., Any]
    Program = Callable[[str, Inner], Any]

PAIRS = [(outer, inner) for outer in MODES for inner in MODES]


def arguments() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(3, 4), torch.ones(4)


def outer_trace(mode: str, program: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return make_fx(program, tracing_mode=mode, **options)(*(args or arguments()))


def expand(a: Any, b: Any) -> Any:
    return b.expand([1, a.shape[0], b.shape[-1]])


class TraceInFunctionMode(TorchFunctionMode):
    def __init__(self, inner: Inner) -> None:
        super().__init__()
        self.inner = inner

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "expand":
            # closes over the sizes, which are the outer trace's symbols
            self.inner(lambda tensor: func(tensor, *args[1:]), args[0])
        return func(*args, **(kwargs or {}))


class TraceInDispatchMode(TorchDispatchMode):
    def __init__(self, inner: Inner) -> None:
        super().__init__()
        self.inner = inner

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if "expand" in str(func):
            self.inner(lambda tensor: func(tensor, *args[1:]), args[0])
        return func(*args, **(kwargs or {}))


def from_a_function_mode(mode: str, inner: Inner) -> Any:
    with TraceInFunctionMode(inner):
        return outer_trace(mode, expand)


def from_a_dispatch_mode(mode: str, inner: Inner) -> Any:
    with TraceInDispatchMode(inner):
        return outer_trace(mode, expand)


def from_the_program(mode: str, inner: Inner, **options: Any) -> Any:
    def program(a: Any, b: Any) -> Any:
        c = a * b
        inner(lambda x, y: x * y + x.shape[0], c, b)
        return c.sin()

    return outer_trace(mode, program, **options)


def under_pre_dispatch(mode: str, inner: Inner) -> Any:
    return from_the_program(mode, inner, pre_dispatch=True)


def grad_mode_switched_under_pre_dispatch(mode: str, inner: Inner) -> Any:
    def switching(x: Any) -> Any:
        with torch.no_grad():
            return x * 2

    def program(a: Any, b: Any) -> Any:
        inner(switching, a)
        return a * b

    return outer_trace(mode, program, pre_dispatch=True)


def closing_over_a_size(mode: str, inner: Inner) -> Any:
    def program(a: Any, b: Any) -> Any:
        rows = a.shape[0]
        inner(lambda x: (x * (rows * 2 + x.shape[0])).expand(rows, x.shape[0]), b)
        return a * b

    return outer_trace(mode, program)


def in_vmap(mode: str, inner: Inner) -> Any:
    def each(a: Any, b: Any) -> Any:
        inner(lambda x, y: x * y, a, b)
        return (a * b).sin()

    return outer_trace(mode, torch.func.vmap(each, (0, None)))


def scalar(inner: Inner) -> Callable[..., Any]:
    def program(a: Any) -> Any:
        inner(lambda x: x * x, a)
        return (a * a).sin().sum()

    return program


def in_grad(mode: str, inner: Inner) -> Any:
    return outer_trace(mode, torch.func.grad(scalar(inner)), torch.ones(3))


def in_grad_of_grad(mode: str, inner: Inner) -> Any:
    first = torch.func.grad(scalar(inner))
    return outer_trace(mode, torch.func.grad(lambda x: first(x).sum()), torch.ones(3))


def in_jacrev(mode: str, inner: Inner) -> Any:
    return outer_trace(mode, torch.func.jacrev(scalar(inner)), torch.ones(3))


def in_a_branch_of_cond(mode: str, inner: Inner) -> Any:
    def taken(a: Any, b: Any) -> Any:
        inner(lambda x, y: x * y, a, b)
        return (a * a.shape[0]).sin() + b

    def program(flag: Any, a: Any, b: Any) -> Any:
        return torch.ops.higher_order.cond(flag, taken, lambda a, b: (a * b).cos(), (a, b))

    return outer_trace(mode, program, torch.tensor(True), *arguments())  # noqa: FBT003 - a tensor's value


def with_a_cond_in_the_inner(mode: str, inner: Inner) -> Any:
    def branching(flag: Any, a: Any, b: Any) -> Any:
        return torch.ops.higher_order.cond(flag, lambda a, b: a * b, lambda a, b: (a * b).cos(), (a, b))

    def program(flag: Any, a: Any, b: Any) -> Any:
        inner(branching, flag, a, b)
        return a * b

    return outer_trace(mode, program, torch.tensor(True), *arguments())  # noqa: FBT003 - a tensor's value


def three_deep(mode: str, inner: Inner) -> Any:
    def middle(a: Any, b: Any) -> Any:
        inner(lambda x, y: x * y + 1, a, b)
        return a * b

    def program(a: Any, b: Any) -> Any:
        inner(middle, a, b)
        return (a * b).sin()

    return outer_trace(mode, program)


def in_aot_autograd(mode: str, inner: Inner) -> Any:
    graphs: list[Any] = []

    def program(a: Any, b: Any) -> Any:
        inner(lambda x, y: x * y, a, b)
        return (a * b).sin()

    def compiler(module: Any, _: Any) -> Any:
        graphs.append(module)
        return make_boxed_func(module.forward)

    a, b = arguments()
    aot_function(program, compiler, dynamic=mode == "symbolic")(a.requires_grad_(), b)
    return graphs[0]


PROGRAMS = (
    from_a_function_mode,
    from_a_dispatch_mode,
    from_the_program,
    under_pre_dispatch,
    grad_mode_switched_under_pre_dispatch,
    closing_over_a_size,
    in_vmap,
    in_grad,
    in_grad_of_grad,
    in_jacrev,
    in_a_branch_of_cond,
    with_a_cond_in_the_inner,
    three_deep,
    in_aot_autograd,
)


def no_trace(*_: Any) -> None:
    return None


def traced_in(mode: str) -> Inner:
    return lambda f, *args: make_fx(f, tracing_mode=mode)(*args)


def deep_nodes(module: Any) -> list[Any]:
    return [nodes(m) for m in module.modules() if isinstance(m, torch.fx.GraphModule)]


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_outer_graph_is_the_one_without_the_inner_trace(program: Program, outer: str, inner: str) -> None:
    wanted = deep_nodes(program(outer, no_trace))
    with fix.apply() as note:
        assert deep_nodes(program(outer, traced_in(inner))) == wanted
    assert note.engaged


# AOTAutograd drops the dead nodes of a leak before it hands its graph out
@pytest.mark.parametrize("program", [program for program in PROGRAMS if program is not in_aot_autograd])
def test_leak_is_seen_in_each_program(program: Program) -> None:
    wanted = deep_nodes(program("real", no_trace))
    with fix.plant(), fix.apply():
        try:
            got = deep_nodes(program("real", traced_in("real")))
        except Exception:  # noqa: BLE001 - a leak that kills the trace is seen too
            return
    assert got != wanted


@pytest.mark.parametrize("applied", [True, False])
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_plant_gives_the_nodes_of_the_report(outer: str, inner: str, applied: bool) -> None:  # noqa: FBT001 - pytest's
    before = collections.Counter(op for _, op, _ in nodes(in_function_mode(outer, None)))
    with fix.plant():
        if applied:
            with fix.apply():
                module = in_function_mode(outer, inner)
        else:
            module = in_function_mode(outer, inner)
    extra = collections.Counter(op for _, op, _ in nodes(module)) - before
    # torch 2.9 records each detach twice
    per_detach = len(nodes(make_fx(lambda tensor: tensor.detach())(torch.ones(1)))) - 2
    assert extra == {"aten.detach.default": 3 * per_detach, "aten.expand.default": 1}


@pytest.mark.parametrize("inner", MODES)
def test_inner_graph_in_aot_autograd_is_the_one_standing_alone(inner: str) -> None:
    kept: list[Any] = []
    body = lambda x, y: x * y + x.shape[0]  # noqa: E731 - traced twice
    with fix.apply():
        in_aot_autograd("real", lambda _, a, b: kept.append(make_fx(body, tracing_mode=inner)(a, b)))
    wanted = make_fx(body, tracing_mode=inner)(*arguments())
    assert [nodes(module) for module in kept] == [nodes(wanted)] * len(kept)
    assert kept


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_inner_graph_can_be_called_by_the_outer_program(outer: str, inner: str) -> None:
    def program(a: Any, b: Any) -> Any:
        return make_fx(lambda x, y: (x * y).sin(), tracing_mode=inner)(a, b)(a, b)

    wanted = nodes(outer_trace(outer, lambda a, b: (a * b).sin()))
    with fix.apply():
        assert nodes(outer_trace(outer, program)) == wanted


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_isolated_graphmodule_stays_isolated(outer: str, inner: str) -> None:
    class Isolate(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if getattr(func, "__name__", "") == "expand":
                get_isolated_graphmodule(func, args, kwargs or {}, tracing_mode=inner)
            return func(*args, **(kwargs or {}))

    wanted = nodes(outer_trace(outer, expand))
    with fix.apply(), Isolate():
        assert nodes(outer_trace(outer, expand)) == wanted


# torch imports its jvp decompositions on first use, and scripts them
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("outer", MODES)
def test_jvp_with_a_real_inner_trace(outer: str) -> None:
    # fake and symbolic inner traces of a dual tensor raise Unsupported standing alone too (torch 2.9 to 2.13)
    def program(inner: Inner) -> Any:
        one = torch.ones(3)
        return outer_trace(outer, lambda x: torch.func.jvp(scalar(inner), (x,), (x,)), one)

    wanted = nodes(program(no_trace))
    with fix.apply():
        assert nodes(program(traced_in("real"))) == wanted


def test_error_of_the_inner_trace_is_its_own_and_leaves_the_outer_alone() -> None:
    def program(a: Any, b: Any) -> Any:
        with pytest.raises(AttributeError, match="no_such"):
            make_fx(lambda x: x.no_such(), tracing_mode="symbolic")(a)
        return a * b

    with fix.apply():
        assert nodes(outer_trace("symbolic", program)) == nodes(outer_trace("symbolic", lambda a, b: a * b))


def test_closed_over_size_is_a_number_in_the_inner_graph() -> None:
    kept: list[Any] = []

    def program(a: Any, b: Any) -> Any:
        rows = a.shape[0]
        kept.append(make_fx(lambda x: x + rows, tracing_mode="symbolic")(b))
        return a * rows

    with fix.apply():
        outer = outer_trace("symbolic", program)
    assert [args for _, op, args in nodes(kept[0]) if op == "aten.add.Tensor"] == [("%0", 3)]
    # and no guard was put on it: the outer graph still takes any size
    assert [op for _, op, _ in nodes(outer)][2:4] == ["aten.sym_size.int", "aten.mul.Tensor"]


def test_trace_without_another_is_not_touched() -> None:
    with fix.apply() as note:
        from_the_program("symbolic", no_trace)
    assert not note.engaged


def test_torch_is_restored_whatever_happens() -> None:
    before = proxy_tensor._MakefxTracer.trace, proxy_tensor.get_proxy_slot
    with pytest.raises(ZeroDivisionError), fix.apply(), fix.apply(), fix.plant():
        raise ZeroDivisionError
    assert (proxy_tensor._MakefxTracer.trace, proxy_tensor.get_proxy_slot) == before


def test_inner_blocks_keep_the_fix_in_force_for_outer_ones() -> None:
    with fix.apply() as outer:
        with fix.apply() as inner:
            pass
        from_the_program("real", traced_in("symbolic"))
    assert outer.engaged
    assert not inner.engaged

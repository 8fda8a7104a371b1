"""Every class of capture error, raised by a real program on the installed torch."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.distributed as dist
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.distributed.fake_pg import FakeStore

from guard.tracers.errors import KINDS, classify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.ir.graph import CaptureError

X = torch.ones(3)


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture(scope="module", autouse=True)
def _operators() -> Iterator[None]:
    library = torch.library.Library("guard_errors", "DEF")
    for name in ("forgets_size", "no_fake", "no_strategy"):
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, torch.clone, "CPU")

    def forgets_size(x: torch.Tensor) -> torch.Tensor:
        torch.library.get_ctx().new_dynamic_size()
        return torch.empty_like(x)

    torch.library.register_fake("guard_errors::forgets_size", forgets_size, lib=library)
    torch.library.register_fake("guard_errors::no_strategy", torch.empty_like, lib=library)
    yield
    library._destroy()


@pytest.fixture(scope="module")
def mesh() -> Iterator[Any]:
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    yield init_device_mesh("cpu", (2,))
    dist.destroy_process_group()


def sharded(mesh: Any, local: torch.Tensor) -> Any:
    return DTensor.from_local(local, mesh, [Shard(0)], run_check=False)


def symbolic(program: Callable[..., Any], *args: Any) -> Any:
    return make_fx(program, tracing_mode="symbolic")(*args)


def faked(program: Callable[..., Any], *args: Any) -> Any:
    return make_fx(program, tracing_mode="fake")(*args)


def real(program: Callable[..., Any], *args: Any) -> Any:
    return make_fx(program)(*args)


def compiled(program: Callable[..., Any], *args: Any) -> Any:
    return torch.compile(program, backend="aot_eager", fullgraph=True)(*args)


def joint(program: Callable[..., Any], *args: Any) -> Any:
    class Module(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return program(*inputs)

    with ExitStack() as stack:
        return aot_export_joint_with_descriptors(stack, Module(), args)


def under_fake_mode(program: Callable[..., Any], *args: Any) -> Any:
    mode = FakeTensorMode()
    with mode:
        return program(*(mode.from_tensor(a) for a in args))


def error_of(trace: Callable[..., Any], program: Callable[..., Any], *args: Any) -> CaptureError:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is is what classify says
        trace(program, *args)
    return classify(caught.value, program=program)


def scaled_inside(x: Any) -> Any:
    make_fx(lambda t: t * x.shape[0])(torch.ones(4))
    return x + 1


def inner_trace(x: Any) -> Any:
    make_fx(torch.sin)(x)
    return x.cos()


def inner_symbolic_trace(x: Any) -> Any:
    make_fx(torch.sin, tracing_mode="symbolic")(x)
    return x.cos()


def forgets_size(x: Any) -> Any:
    return torch.ops.guard_errors.forgets_size(x)


def branches(x: Any) -> Any:
    return x + 1 if x.sum() > 0 else x - 1


def branches_in_vmap(x: Any) -> Any:
    return torch.vmap(lambda y: y if y > 0 else -y)(x)


def branches_in_fx(x: Any) -> Any:
    return torch.fx.symbolic_trace(branches)(x)


def item(x: Any) -> Any:
    return x * x.sum().item()


def nonzero(x: Any) -> Any:
    return torch.nonzero(x)


def closes_over(x: Any) -> Any:
    return x + X


def grows_itself(x: Any) -> Any:
    return grows_itself(x) + 1


def no_fake(x: Any) -> Any:
    return torch.ops.guard_errors.no_fake(x)


def no_kernel(x: Any) -> Any:
    return torch.cholesky_inverse(x.to(torch.float8_e4m3fn))


def data_pointer(x: Any) -> Any:
    return x * x.data_ptr()


def to_numpy(x: Any) -> Any:
    return x.numpy()


def mutates_in_branch(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda y: y.add_(1), lambda y: y.sin(), (x,))


def prints(x: Any) -> Any:
    print("seen")  # noqa: T201 - what Dynamo cannot trace
    return x + 1


def raises(_: Any) -> Any:
    msg = "no"
    raise ValueError(msg)


def unfinished(_: Any) -> Any:
    raise NotImplementedError


def asserts(x: Any) -> Any:
    assert x.shape[0] == 4
    return x


def misses_attribute(x: Any) -> Any:
    return x.no_such_method()


def mismatched(x: Any) -> Any:
    return x @ torch.ones(5, 5)


def bad_argument(x: Any) -> Any:
    return torch.nn.functional.cross_entropy(x, "target")


def mixed_devices(x: Any) -> Any:
    return x + torch.ones(3, device="meta")


class RaisesInBackward(torch.autograd.Function):
    @staticmethod
    def forward(_: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(*_: Any) -> Any:
        msg = "in backward"
        raise ValueError(msg)


def differentiates(x: Any) -> Any:
    return torch.autograd.grad(RaisesInBackward.apply(x).sum(), x)


def gradient_input() -> Any:
    return torch.ones(3, requires_grad=True)


CASES = [
    # an inner trace's value in the outer one, in the two forms that torch gives it, and under functionalization
    (symbolic, scaled_inside, X, "untracked-proxy", "is not tracked with proxy", "lambda t: t * x.shape[0]"),
    (joint, inner_trace, gradient_input(), "untracked-proxy", "in tensor_tracker", "make_fx(torch.sin)(x)"),
    (symbolic, forgets_size, X, "unbacked-symbol", "Pending unbacked symbols {u}", "forgets_size(x)"),
    (compiled, forgets_size, X, "unbacked-symbol", "Pending unbacked symbols {u}", "forgets_size(x)"),
    (real, branches, X, "data-dependent", "get value out of a tracing tensor", "if x.sum() > 0"),
    (faked, branches, X, "data-dependent", "data-dependent expression Eq(u, 1)", "if x.sum() > 0"),
    (joint, branches, gradient_input(), "data-dependent", "DataDependentOutputException", "if x.sum() > 0"),
    (real, branches_in_vmap, X, "data-dependent", "data-dependent control flow", "lambda y: y if y > 0"),
    (real, branches_in_fx, X, "data-dependent", "TraceError", "if x.sum() > 0"),
    (real, item, X, "data-dependent", "get value out of a tracing tensor", "x.sum().item()"),
    (under_fake_mode, nonzero, X, "data-dependent", "DynamicOutputShapeException: aten.nonzero", "torch.nonzero(x)"),
    (faked, closes_over, X, "fake-constant", "convert all Tensors to FakeTensors", "return x + X"),
    (real, grows_itself, X, "recursion", "maximum recursion depth", "return grows_itself(x) + 1"),
    (compiled, grows_itself, X, "recursion", "maximum recursion depth", "return grows_itself(x) + 1"),
    (faked, no_fake, X, "unsupported", "guard_errors.no_fake.default", "no_fake(x)"),
    (compiled, no_fake, X, "unsupported", "guard_errors.no_fake.default", "no_fake(x)"),
    (real, no_kernel, torch.ones(2, 2), "unsupported", "not implemented for", "torch.cholesky_inverse"),
    (faked, data_pointer, X, "unsupported", "Cannot access data pointer", "x.data_ptr()"),
    (faked, to_numpy, X, "unsupported", ".numpy() is not supported", "x.numpy()"),
    (real, mutates_in_branch, X, "unsupported", "Encountered input mutation", "torch.cond("),
    (joint, inner_symbolic_trace, gradient_input(), "unsupported", "shape_env should be set", "make_fx(torch.sin"),
    (compiled, prints, X, "graph-break", "builtin operator `print`", 'print("seen")'),
    (compiled, branches, X, "graph-break", "Data-dependent branching", "if x.sum() > 0"),
    (real, raises, X, "program", "ValueError: no", "raise ValueError(msg)"),
    (compiled, raises, X, "program", "ValueError('no')", "raise ValueError(msg)"),
    (joint, raises, gradient_input(), "program", "ValueError: no", "raise ValueError(msg)"),
    (real, unfinished, X, "program", "NotImplementedError", "raise NotImplementedError"),
    (real, asserts, X, "program", "AssertionError", "assert x.shape[0] == 4"),
    (real, misses_attribute, X, "program", "no attribute", "x.no_such_method()"),
    (real, mismatched, torch.ones(3, 4), "program", "cannot be multiplied", "x @ torch.ones(5, 5)"),
    (symbolic, mismatched, torch.ones(3, 4), "program", "RuntimeError: ", "x @ torch.ones(5, 5)"),
    (compiled, mismatched, torch.ones(3, 4), "program", "same reduction dim", "x @ torch.ones(5, 5)"),
    (joint, mismatched, torch.ones(3, 4), "program", "same reduction dim", "x @ torch.ones(5, 5)"),
    (real, bad_argument, X, "program", "argument 'target'", "cross_entropy"),
    (faked, mixed_devices, X, "program", "FakeTensorDeviceMismatchError", 'device="meta"'),
    (real, differentiates, gradient_input(), "program", "ValueError: in backward", "raise ValueError(msg)"),
]


@pytest.mark.parametrize(
    ("trace", "program", "x", "kind", "line", "code"),
    CASES,
    ids=[f"{trace.__name__}-{program.__name__}" for trace, program, *_ in CASES],
)
def test_class_of_a_program(  # noqa: PLR0913, PLR0917 - a row of the table
    trace: Callable[..., Any], program: Callable[..., Any], x: Any, kind: str, line: str, code: str
) -> None:
    error = error_of(trace, program, x)
    assert error.kind == kind
    assert line in error.line
    assert code in error.code
    assert error.source is not None
    assert error.source.startswith("tests/tracers/test_errors_kinds.py:")


def test_direct_nested_make_fx_is_an_untracked_proxy_in_disguise() -> None:
    def body(a: Any, b: Any) -> Any:
        return b.expand([1, a.shape[0], b.shape[-1]]) * 2

    def program(a: Any, b: Any) -> Any:
        make_fx(body, tracing_mode="fake")(a, b)
        return body(a, b)

    error = error_of(symbolic, program, torch.ones(3, 4), torch.ones(4))
    assert error.kind == "untracked-proxy"
    # torch says nothing of proxies: it could not build the outer graph's node for a product of the inner one's sizes
    assert error.line == "TypeError: mul expected 2 arguments, got 3"
    assert error.code == 'make_fx(body, tracing_mode="fake")(a, b)'
    assert error.cause is not None
    assert error.cause.startswith("pytorch#93290")


def test_state_left_by_an_earlier_pass_is_a_fake_constant() -> None:
    class Keeper(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)
            self.kept: Any = None

        def forward(self, x: Any) -> Any:
            y = self.linear(x).sum()
            z = y if self.kept is None else y + self.kept
            self.kept = y.detach()
            return z

    def trace(module: Any, x: Any) -> Any:
        with ExitStack() as stack:
            return aot_export_joint_with_descriptors(stack, module, (x,))

    error = error_of(trace, Keeper(), torch.ones(2, 2))
    assert error.kind == "fake-constant"
    assert error.line == "AssertionError: Unexpected fake buffer _tensor_constant"
    assert error.cause is not None
    assert error.cause.startswith("pytorch#164732")


def test_fake_of_an_earlier_trace_is_a_fake_constant() -> None:
    kept: list[Any] = []

    def program(x: Any) -> Any:
        kept.append(x.sin())
        return x + kept[0]

    symbolic(program, X)
    error = error_of(symbolic, program, X)
    assert error.kind == "fake-constant"
    assert error.line == "AssertionError: Mixing fake modes NYI x.fake_mode=FakeTensorMode vs self=FakeTensorMode"
    assert error.cause is not None
    assert error.cause.startswith("pytorch#153062")


def test_output_beside_its_detached_alias_stops_the_partitioner(mesh: Any) -> None:
    def program(x: Any) -> Any:
        out = sharded(mesh, x.to_local().sin())
        return out.detach(), out

    error = error_of(compiled, program, sharded(mesh, torch.ones(2, 4)).requires_grad_())
    assert error.kind == "partitioner"
    assert error.line == "AssertionError: Node view was invalid, but is output"
    assert error.cause is not None
    assert error.cause.startswith("pytorch#172549")


class Bump(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, extra: Any) -> Any:
        ctx.save_for_backward(extra)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (extra,) = ctx.saved_tensors
        extra.add_(grad)
        return grad.clone(), None


def writes_output_in_backward(x: Any) -> Any:
    extra = x.detach().clone()
    return Bump.apply(x, extra).clone(), extra


@pytest.mark.filterwarnings("ignore:.*should not be instantiated")
def test_backward_write_into_an_output_stops_the_partitioner() -> None:
    error = error_of(compiled, writes_output_in_backward, gradient_input())
    assert error.kind == "partitioner"
    assert error.cause is not None
    assert "pytorch#172956" in error.cause


def test_warning_of_torch_that_filters_made_an_error_is_other() -> None:
    error = error_of(compiled, writes_output_in_backward, gradient_input())
    assert error.kind == "other"
    assert error.line.startswith("DeprecationWarning: torch.autograd.function.Function should not be instantiated")


def test_operator_without_a_strategy(mesh: Any) -> None:
    def program(x: Any) -> Any:
        return torch.ops.guard_errors.no_strategy(sharded(mesh, x)).to_local()

    error = error_of(real, program, torch.ones(2, 3))
    assert error.kind == "sharding-propagation"
    assert "guard_errors.no_strategy.default does not have a sharding strategy" in error.line
    assert error.code.startswith("return torch.ops.guard_errors.no_strategy")


@pytest.mark.parametrize("trace", [real, compiled])
def test_failed_sharding_propagation(mesh: Any, trace: Callable[..., Any]) -> None:
    def program(x: Any) -> Any:
        return torch.mm(x, x)

    def local(x: Any) -> Any:
        return program(sharded(mesh, x)).to_local()

    x = torch.ones(2, 3)
    error = error_of(trace, local, x) if trace is real else error_of(trace, program, sharded(mesh, x))
    assert error.kind == "sharding-propagation"
    assert "[4, 3] X [4, 3]" in error.line
    assert error.code == "return torch.mm(x, x)"


def test_dtensor_argument_of_make_fx(mesh: Any) -> None:
    def program(x: Any) -> Any:
        return x.redistribute(mesh, [Replicate()]) * 2

    error = error_of(symbolic, program, sharded(mesh, torch.ones(2, 3)))
    assert error.kind == "untracked-proxy"
    assert error.cause is not None
    assert error.cause.startswith("pytorch#167657")


def test_recompile_limit_is_a_graph_break() -> None:
    def trace(program: Callable[..., Any]) -> None:
        function = torch.compile(program, backend="eager", fullgraph=True, dynamic=False)
        for size in range(2, 12):
            function(torch.ones(size))

    error = error_of(trace, lambda x: x + 1)
    assert error.kind == "graph-break"
    assert "recompile limit" in error.line


def test_broken_promise_of_a_dynamic_size_is_other() -> None:
    x = torch.ones(4)
    torch._dynamo.mark_dynamic(x, 0)
    error = error_of(compiled, lambda y: y.view(2, 2), x)
    assert error.kind == "other"
    assert error.line.startswith("ConstraintViolationError: Constraints violated (L['y'].size()[0])!")
    assert "y.view(2, 2)" in error.code


def test_torch_error_that_the_program_handled_keeps_its_class() -> None:
    def program(x: Any) -> Any:
        try:
            return item(x)
        except RuntimeError:
            raise KeyError from None

    def chained(x: Any) -> Any:
        try:
            return item(x)
        except RuntimeError:
            raise KeyError(x)  # noqa: B904 - the implied cause is what is tested

    assert error_of(real, chained, X).kind == "data-dependent"
    assert error_of(real, program, X).kind == "program"


def test_every_class_is_raised_here() -> None:
    elsewhere = {"partitioner", "sharding-propagation", "other"}
    assert set(KINDS) == {kind for *_, kind, _, _ in CASES} | elsewhere

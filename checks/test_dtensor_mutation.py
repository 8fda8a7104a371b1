"""A DTensor that a traced program mutates gets one copy_ on its local tensor, and no proxy is lost (pytorch#170467).

Every check runs under AOTAutograd's joint trace and under torch.compile, on a fake process group.
Plain tensors are the control.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor

from guard import AotJoint, Compile

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.distributed.device_mesh import DeviceMesh

    from guard.session.capture import Capture
    from guard.session.guard import Guard

R, S0, S1 = Replicate(), Shard(0), Shard(1)
TRACERS: dict[str, AotJoint | Compile] = {"joint": AotJoint(), "compile": Compile(fullgraph=True)}
GRAPHS = {"joint": ("joint",), "compile": ("forward", "backward")}
each_tracer = pytest.mark.parametrize("tracer", list(TRACERS))
each_layout = pytest.mark.parametrize("layout", ["dtensor", "plain"])


def ramp(*shape: int) -> Tensor:
    """Increasing values; the numbers never reach a graph."""
    return torch.linspace(0.1, 1.0, steps=torch.Size(shape).numel()).reshape(shape)


def place(mesh: DeviceMesh | None, placements: list[Any], *shape: int) -> Tensor:
    """A DTensor of a global shape, cut locally: the fake group's scatter would leave garbage. Plain without a mesh."""
    if mesh is None:
        return ramp(*shape)
    return distribute_tensor(ramp(*shape), mesh, placements, src_data_rank=None)


def copies(capture: Capture, tracer: str) -> int:
    """Count the writes to inputs in all graphs of a capture."""
    return sum(capture.graph(name).count("aten.copy_.default") for name in GRAPHS[tracer])


def copy(seen: Tensor, y: Tensor) -> None:
    """Replace the whole buffer."""
    seen.copy_(y)


def moving_average(seen: Tensor, y: Tensor) -> None:
    """Read and write the buffer, twice."""
    seen.mul_(0.9).add_(y, alpha=0.1)


def through_to_local(seen: DTensor, y: DTensor) -> None:
    """Write the local tensor, which shares the DTensor's storage."""
    seen.to_local().copy_(y.to_local())


def transposed_view(seen: Tensor, y: Tensor) -> None:
    """Write through a view that covers the whole buffer."""
    seen.t().add_(y.t())


def one_row(seen: Tensor, y: Tensor) -> None:
    """Write through a view of a part."""
    seen[0].copy_(y[0])


class Observer(nn.Module):
    """A linear layer that keeps what it saw in a buffer, by one of the writes above."""

    def __init__(self, weight: Tensor, seen: Tensor, write: Callable[[Any, Any], None]) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("seen", seen)
        self.write = write

    def forward(self, x: Tensor) -> Tensor:
        y = x @ self.weight
        with torch.no_grad():
            self.write(self.seen, y)
        return y.sin()


# buffer <- activation: placements of the buffer, of the input and of the weight that give the activation its placement
PAIRS = {
    "shard-from-shard": ([S0], [S0], [R]),
    "shard-from-replicate": ([S0], [R], [R]),
    "replicate-from-shard": ([R], [S0], [R]),
    "replicate-from-partial": ([R], [S1], [S0]),
}
WRITES = {"copy": copy, "moving-average": moving_average}


@each_tracer
@pytest.mark.parametrize("write", list(WRITES))
@pytest.mark.parametrize("pair", list(PAIRS))
def test_buffer_update(guard: Guard, pair: str, write: str, tracer: str) -> None:
    """The activation is redistributed to the buffer's placement, then copied: the fake propagation leaves no node."""
    mesh = guard.mesh((2,))
    seen, x, weight = PAIRS[pair]
    model = Observer(place(mesh, weight, 4, 4), place(mesh, seen, 8, 4), WRITES[write])
    capture = guard.check(model, place(mesh, x, 8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 1


@each_tracer
@pytest.mark.parametrize("write", list(WRITES))
def test_buffer_update_plain(guard: Guard, write: str, tracer: str) -> None:
    """Control: the same training step on plain tensors."""
    model = Observer(ramp(4, 4), ramp(8, 4), WRITES[write])
    capture = guard.check(model, ramp(8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 1


@each_tracer
def test_two_dimensional_mesh(guard: Guard, tracer: str) -> None:
    """Data and tensor parallel at once: the buffer is cut along both dimensions of the mesh."""
    mesh = guard.mesh((2, 4), names=("dp", "tp"))
    model = Observer(place(mesh, [R, S1], 4, 8), place(mesh, [S0, S1], 8, 8), copy)
    capture = guard.check(model, place(mesh, [S0, R], 8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 1


@each_tracer
def test_uneven_shard(guard: Guard, tracer: str) -> None:
    """8 rows over 3 ranks: the local shape is no even part of the global one."""
    mesh = guard.mesh((3,))
    model = Observer(place(mesh, [R], 4, 4), place(mesh, [S0], 8, 4), copy)
    capture = guard.check(model, place(mesh, [S0], 8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 1


@each_tracer
@pytest.mark.parametrize("size", [2, 4, 64])
def test_mesh_size(guard: Guard, size: int, tracer: str) -> None:
    """The number of ranks changes shapes, never the number of nodes."""
    mesh = guard.mesh((size,))
    model = Observer(place(mesh, [R], 4, 4), place(mesh, [R], 64, 4), moving_average)
    capture = guard.check(model, place(mesh, [S0], 64, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 1


class SumOfGradients(torch.autograd.Function):
    """Identity whose backward adds the gradient to a buffer."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, seen: Tensor) -> Tensor:
        ctx.seen = seen
        return y.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        ctx.seen.add_(grad)
        return grad, None


class TwiceWritten(Observer):
    """An observer that also adds the gradient to its buffer, in backward."""

    def forward(self, x: Tensor) -> Tensor:
        return SumOfGradients.apply(super().forward(x), self.seen)


@each_tracer
@each_layout
def test_written_in_forward_and_backward(guard: Guard, layout: str, tracer: str) -> None:
    """One copy_ for each of the two: the case for which AOTAutograd keeps existing proxies (pytorch#155354)."""
    mesh = guard.mesh((2,)) if layout == "dtensor" else None
    model = TwiceWritten(place(mesh, [R], 4, 4), place(mesh, [S0], 8, 4), moving_average)
    capture = guard.check(model, place(mesh, [S0], 8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 2


@each_tracer
@each_layout
def test_batch_norm_statistics(guard: Guard, layout: str, tracer: str) -> None:
    """Running mean, running variance and the number of batches are three mutated buffers of one training step."""
    model: nn.Module = nn.BatchNorm1d(4)
    mesh = guard.mesh((2,)) if layout == "dtensor" else None
    if mesh is not None:
        model = distribute_module(model, mesh)
    capture = guard.check(model, place(mesh, [S0], 8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 3


@each_tracer
def test_write_through_to_local(guard: Guard, tracer: str) -> None:
    """A write to the local tensor is a write to the DTensor that owns it."""
    mesh = guard.mesh((2,))
    model = Observer(place(mesh, [R], 4, 4), place(mesh, [S0], 8, 4), through_to_local)
    capture = guard.check(model, place(mesh, [S0], 8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 1


# select of a sharded dimension is a copy in DTensor, so one row is written where the buffer is whole
VIEWS = {"transposed": (transposed_view, S0), "row": (one_row, R)}


@each_tracer
@each_layout
@pytest.mark.parametrize("view", list(VIEWS))
def test_view_of_buffer(guard: Guard, view: str, layout: str, tracer: str) -> None:
    """A write to a view is scattered back into the whole buffer, then copied once."""
    mesh = guard.mesh((2,)) if layout == "dtensor" else None
    write, placement = VIEWS[view]
    model = Observer(place(mesh, [R], 4, 4), place(mesh, [placement], 8, 4), write)
    capture = guard.check(model, place(mesh, [placement], 8, 4), tracer=TRACERS[tracer])
    assert copies(capture, tracer) == 1


def momentum_step(parameters: list[Tensor], grads: list[Tensor], momenta: list[Tensor]) -> None:
    """Step as torch.optim.SGD(momentum=0.9, foreach=True) does."""
    with torch.no_grad():
        torch._foreach_mul_(momenta, 0.9)
        torch._foreach_add_(momenta, grads)
        torch._foreach_add_(parameters, momenta, alpha=-0.1)


@each_tracer
@each_layout
def test_foreach_step(guard: Guard, layout: str, tracer: str) -> None:
    """A foreach optimiser step mutates two lists of inputs in three calls: one copy_ for each of the four tensors."""
    mesh = guard.mesh((2,)) if layout == "dtensor" else None
    parameters, grads, momenta = ([place(mesh, [S0], 8, 4), place(mesh, [R], 4, 4)] for _ in range(3))
    capture = guard.check(momentum_step, parameters, grads, momenta, tracer=TRACERS[tracer])
    assert capture.graph(GRAPHS[tracer][0]).count("aten.copy_.default") == 4


class LocalProduct(nn.Module):
    """A product of local tensors that is declared to have a placement."""

    def __init__(self, mesh: DeviceMesh, placement: Any) -> None:
        super().__init__()
        self.mesh, self.placement = mesh, placement
        self.weight = nn.Parameter(place(mesh, [R], 4, 4))

    def forward(self, x: DTensor) -> DTensor:
        y = x.to_local() @ self.weight.to_local()
        return DTensor.from_local(y, self.mesh, [self.placement], run_check=False)


@each_tracer
def test_outputs_differ_in_placement(guard: Guard, tracer: str) -> None:
    """Partial and Replicate give the same nodes: only the output's type tells the two graphs apart."""
    mesh = guard.mesh((2,))
    x = place(mesh, [R], 8, 4)
    partial = guard.check(LocalProduct(mesh, Partial()), x, tracer=TRACERS[tracer], name="partial")
    whole = guard.check(LocalProduct(mesh, R), x, tracer=TRACERS[tracer], name="replicate")
    name = GRAPHS[tracer][0]
    assert partial.graph(name).targets == whole.graph(name).targets
    assert partial.graph(name).graph.outputs[0].type != whole.graph(name).graph.outputs[0].type

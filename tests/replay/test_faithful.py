"""Right captures are never called unfaithful; wrong ones always, with the first wrong value."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from guard.replay.faithful import replay, replay_module
from guard.specs import AotJoint, Compile, MakeFx, Replay
from guard.tracers.capture import Job, capture, lower_module
from tests.replay.faults import planted
from tests.replay.ordinary import programs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from guard.findings import Replayed
    from guard.specs import Tracer
    from guard.tracers.mesh import Meshes

REPLAYED = ("replayed", "")
TRACERS: dict[str, Tracer] = {
    "real": MakeFx(),
    "symbolic": MakeFx("symbolic"),
    "pre-dispatch": MakeFx(pre_dispatch=True),
    "joint": AotJoint(),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def replayed(cache: Path) -> Callable[..., Replayed]:
    """Capture and replay."""

    def run(spec: Tracer, program: Any, *args: Any, fault: str | None = None, **asked: Any) -> Replayed:
        job = Job(spec, program, args, {})
        captured = capture(job, check="a::b", cache=cache)
        assert captured.program.error is None, captured.program.error
        assert captured.traced is not None
        if fault is not None:
            planted(captured.traced, fault)
        return replay(job, captured, Replay(**asked), cache=cache)

    return run


def said(found: Replayed) -> tuple[str, str]:
    return found.state, found.reason


@pytest.mark.parametrize("name", list(programs()))
def test_no_false_alarm(replayed: Callable[..., Replayed], name: str) -> None:
    for tracer, spec in TRACERS.items():
        program, args = programs()[name]
        found = replayed(spec, program, *args)
        assert said(found) == REPLAYED, (tracer, found)
        assert found.on in {("example", "fresh"), ("example", "second size")}


@pytest.mark.parametrize("name", ["embedding", "tied", "dropout", "viewing", "listing", "written"])
def test_no_false_alarm_compiled(replayed: Callable[..., Replayed], name: str) -> None:
    program, args = programs()[name]
    assert said(replayed(Compile(), program, *args)) == REPLAYED


@pytest.mark.prove
@pytest.mark.parametrize("name", list(programs()))
def test_no_false_alarm_of_any_tracer(replayed: Callable[..., Replayed], name: str) -> None:
    for spec in (MakeFx("fake"), MakeFx("symbolic", decompositions="core_aten"), Compile(), Compile(dynamic=True)):
        program, args = programs()[name]
        assert said(replayed(spec, program, *args)) == REPLAYED, spec


def test_what_a_symbolic_capture_took_for_a_size_is_given_another(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx("symbolic"), lambda x: x / x.shape[0], torch.ones(2, 3))
    assert (found.state, found.on) == ("replayed", ("example", "second size"))


# planted


def difference(x: Tensor, y: Tensor) -> Tensor:
    return x - y


def update(x: Tensor, y: Tensor) -> Tensor:
    x.copy_(y)
    return y * 2


def mean(x: Tensor) -> Tensor:
    return x.sum(0) / x.shape[0]


ONES = torch.ones(2, 3)
RAMP = torch.arange(6.0).reshape(2, 3)


def test_swapped_operands(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx(), difference, RAMP, ONES, fault="swapped")
    assert said(found) == ("unfaithful", "output 0 differs from eager on the example inputs")
    assert found.lines == ("[0, 0]: wanted -1.0, got 1.0",)


def test_swapped_operands_that_the_example_hides(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx(), difference, torch.ones(2, 3), ONES, fault="swapped")
    assert said(found) == ("unfaithful", "output 0 differs from eager on fresh inputs")
    assert found.on == ("example", "fresh")


def test_swapped_operands_of_a_joint_graph(replayed: Callable[..., Replayed]) -> None:
    found = replayed(AotJoint(), difference, RAMP.clone().requires_grad_(), ONES, fault="swapped")
    assert said(found) == ("unfaithful", "output 0 differs from eager on the example inputs")


@pytest.mark.parametrize(("spec", "when"), [(MakeFx(), "forward"), (AotJoint(), "backward")], ids=["make-fx", "joint"])
def test_dropped_write(replayed: Callable[..., Replayed], spec: Tracer, when: str) -> None:
    found = replayed(spec, update, RAMP.clone(), ONES, fault="dropped")
    assert said(found) == ("unfaithful", f'input "x" after {when} differs from eager on the example inputs')
    assert found.lines == ("[0, 0]: wanted 1.0, got 0.0",)


def test_baked_input(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx(), difference, RAMP, ONES, fault="baked")
    assert said(found) == ("unfaithful", "output 0 differs from eager on fresh inputs")


def test_frozen_size(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx("symbolic"), mean, RAMP, fault="frozen")
    assert said(found) == ("unfaithful", "output 0 differs from eager on inputs of a second size")


def test_a_graph_that_does_not_run(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx("symbolic"), lambda x: x + torch.ones(x.shape[0], 1), RAMP, fault="frozen")
    assert said(found) == ("unfaithful", "the run of the graph differs from eager on inputs of a second size")
    assert found.lines[0].startswith("it raises RuntimeError: The size of tensor")


# what torch 2.13 does wrong by itself


def test_lost_requires_grad(replayed: Callable[..., Replayed]) -> None:
    """pytorch#186522."""
    found = replayed(MakeFx(pre_dispatch=True), lambda x: x.clone().requires_grad_() * 2, ONES)
    assert said(found) == ("unfaithful", "requires_grad of output 0 differs from eager on the example inputs")
    assert found.lines == ("wanted True, got False",)


def first_gradient(x: Tensor, w: Tensor) -> Tensor:
    energy = torch.tanh(x * w).pow(2).sum()
    return torch.autograd.grad(energy, x, create_graph=True)[0]


def test_second_order_gradient_through_detached_values(replayed: Callable[..., Replayed]) -> None:
    """pytorch#175477: the graph computes the same, until it is differentiated."""
    x, w = torch.linspace(0.1, 1.0, 5).requires_grad_(), torch.linspace(-0.9, 0.9, 5)
    assert said(replayed(MakeFx(), first_gradient, x, w)) == REPLAYED
    found = replayed(MakeFx(), first_gradient, x, w, order=2)
    assert said(found) == ("unfaithful", 'gradient of input "x" differs from eager on the example inputs')


def test_second_order_is_right_where_the_graph_is(replayed: Callable[..., Replayed]) -> None:
    x = RAMP.clone().requires_grad_()
    assert said(replayed(MakeFx(), lambda x: (x.sin() * x).pow(3), x, order=2)) == REPLAYED


def test_no_second_order_of_a_joint_graph(replayed: Callable[..., Replayed]) -> None:
    found = replayed(AotJoint(), torch.sin, RAMP.clone().requires_grad_(), order=2)
    assert said(found) == ("not replayed", "order=2: this tracer's graph is differentiated 1 times at most")


class Replacing(nn.Module):
    """A buffer that is replaced, not written: no tracer here keeps that."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Tensor
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        self.count = self.count + 1
        return x * self.count[0]


@pytest.mark.parametrize("tracer", list(TRACERS))
def test_lost_buffer(replayed: Callable[..., Replayed], tracer: str) -> None:
    found = replayed(TRACERS[tracer], Replacing(), ONES)
    assert found.state == "unfaithful"
    assert found.reason.startswith('buffer "count" after')


class Keeper(nn.Module):
    """State that is read again: pytorch#164732, pytorch#153062."""

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, Tensor] = {}
        self.log: list[Tensor] = []
        self.reads = True
        self.out = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        total = self.out(x).sum()
        if self.reads and "sum" in self.store:
            total = total + self.store["sum"].detach()
        self.store["sum"] = total
        self.log.append(total)
        return total


def test_what_tracing_leaves_in_a_module(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx("fake"), Keeper(), ONES)
    assert said(found) == ("unfaithful", "module attribute \"store['sum']\" after tracing differs from eager")
    assert found.lines[0].startswith("wanted a Tensor, got a F")


def test_what_tracing_leaves_and_nobody_reads(replayed: Callable[..., Replayed]) -> None:
    module = Keeper()
    module.reads = False
    assert said(replayed(MakeFx("fake"), module, ONES)) == REPLAYED
    assert not module.store
    assert not module.log


def test_a_number_that_was_drawn_while_tracing(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx(), lambda x: x * random.random(), ONES)  # noqa: S311 - the program's
    assert said(found) == ("unfaithful", "draws from Python's random differs from eager on the example inputs")


def test_grad_mode_that_the_program_leaves_off(replayed: Callable[..., Replayed]) -> None:
    def program(x: Tensor) -> Tensor:
        torch.set_grad_enabled(mode=False)
        return x + 1

    found = replayed(MakeFx(), program, ONES)
    assert said(found) == ("unfaithful", "grad mode differs from eager on the example inputs")
    assert torch.is_grad_enabled()


# nobody's fault


def test_memory_that_nothing_was_written_to(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx(), lambda x: (x + 1, torch.empty(10_000)), ONES)
    assert found.state in {"not replayed", "replayed"}  # the allocator may hand out the same bytes again
    assert not found.lines


def test_eager_differs_from_itself(replayed: Callable[..., Replayed]) -> None:
    calls: list[int] = []

    def program(x: Tensor) -> Tensor:
        calls.append(1)
        return x * len(calls)

    reason = "eager differs from itself when it is run again: output 0"
    assert said(replayed(MakeFx(), program, ONES)) == ("not replayed", reason)


def test_eager_fails_on_what_guard_drew(replayed: Callable[..., Replayed]) -> None:
    def program(x: Tensor, lengths: Tensor) -> Tensor:
        return torch.nn.functional.embedding_bag(lengths, x, torch.tensor([0, 1]))

    def picky(x: Tensor) -> Tensor:
        if not _is_traced() and not bool((x == 1).all()):
            raise ValueError("wanted ones")
        return x * 2

    assert said(replayed(MakeFx(), program, torch.randn(4, 2), torch.tensor([1, 2, 3]))) == REPLAYED
    found = replayed(AotJoint(), picky, torch.ones(3))
    assert said(found) == ("not replayed", "on fresh inputs: eager fails: ValueError: wanted ones")
    assert found.on == ("example",)


def _is_traced() -> bool:
    return bool(torch.utils._python_dispatch._get_current_dispatch_mode_stack())


def test_inputs_of_the_users(replayed: Callable[..., Replayed]) -> None:
    """A factory is asked in place of guard's own draw, under the seed."""
    seen: list[Tensor] = []

    def inputs() -> Tensor:
        seen.append(torch.rand(2, 3))
        return seen[-1]

    assert said(replayed(MakeFx(), torch.sin, ONES, inputs=inputs)) == REPLAYED
    assert len(seen) == 1
    found = replayed(MakeFx(), torch.sin, ONES, inputs=lambda: {"x": ONES})
    assert said(found) == ("not replayed", "on fresh inputs: inputs= gives other arguments than the check has")


def test_bitwise(replayed: Callable[..., Replayed]) -> None:
    def program(x: Tensor) -> Tensor:
        return x - 1e-7 if _is_traced() else x - 1.5e-7

    assert said(replayed(MakeFx(), program, RAMP)) == REPLAYED
    found = replayed(MakeFx(), program, RAMP, tolerance="bitwise")
    assert found.state == "unfaithful"
    assert replayed(MakeFx(), program, RAMP, tolerance=(0.0, 1e-9)).state == "unfaithful"


def test_no_data(replayed: Callable[..., Replayed]) -> None:
    found = replayed(MakeFx(), torch.sin, torch.ones(2, device="meta"))
    assert said(found) == ("not replayed", 'n/a: input "arg0" is fake or meta, and has no data')


def test_collectives(replayed: Callable[..., Replayed]) -> None:
    from torch.distributed.tensor import DTensor, Replicate, Shard

    from guard.tracers.mesh import Meshes as Made

    meshes: Meshes = Made()
    mesh = meshes.mesh((2,))

    def sharded(x: Tensor) -> Tensor:
        return DTensor.from_local(x, mesh, [Shard(0)], run_check=False)

    try:
        gathered = replayed(AotJoint(), lambda x: sharded(x).redistribute(mesh, [Replicate()]).to_local(), RAMP)
        local = replayed(AotJoint(), lambda d: d * 2, sharded(RAMP.clone()).requires_grad_())
    finally:
        meshes.close()
    assert said(gathered) == ("not replayed", "collectives need real ranks")
    assert said(local) == REPLAYED


def test_what_is_disturbed_is_put_back(replayed: Callable[..., Replayed]) -> None:
    module, x = nn.BatchNorm1d(3), RAMP.clone().requires_grad_()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    state = torch.get_rng_state()
    assert said(replayed(AotJoint(), module, x)) == REPLAYED
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    assert torch.equal(x, RAMP)
    assert x.grad is None
    assert torch.equal(state, torch.get_rng_state())


# a graph of the user's own


def graph_of(program: Any) -> Any:
    return lower_module(torch.fx.symbolic_trace(program), check="a::b")


def test_graph_of_the_users() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    assert said(replay_module(module, graph_of(module), Replay(inputs=(RAMP,), order=1))) == REPLAYED
    found = replay_module(lambda x: x - 1, graph_of(lambda x: 1 - x), Replay(inputs=lambda: RAMP))
    assert said(found) == ("unfaithful", "output 0 differs from eager on the example inputs")


def test_graph_of_the_users_with_parameters_of_its_own() -> None:
    """A copy of the module: what eager writes into its own buffers is not the graph's."""
    import copy

    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    found = replay_module(module, graph_of(copy.deepcopy(module)), Replay(inputs=(RAMP,)))
    assert said(found) == REPLAYED

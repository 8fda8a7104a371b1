"""Alarms on what torch really traces: public faults raise them, ordinary programs do not."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from guard.alarms.captures import retrace, unstable
from guard.alarms.program import alarms
from guard.specs import AotJoint, MakeFx
from guard.tracers.again import again, retraced
from guard.tracers.capture import Job, capture
from tests.replay.ordinary import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from guard.alarms.alarm import Alarm
    from guard.specs import Tracer
    from guard.tracers.mesh import Meshes


def raised(cache: Path, spec: Tracer, program: Any, *args: Any) -> list[str]:
    found = capture(Job(spec, program, args, {}), check="a::b", cache=cache)
    assert found.program.error is None
    return [alarm.kind for alarm in alarms(found.program, found.dropped)]


def slope(x: Tensor) -> Tensor:
    (found,) = torch.autograd.grad(x.tanh().exp().sum(), x, create_graph=True)
    return found


def test_a_gradient_that_is_differentiated_again(cache: Path) -> None:
    """pytorch#175477."""
    assert raised(cache, MakeFx(), slope, torch.ones(3, requires_grad=True)) == ["hidden-detach", "hidden-detach"]
    first_order = torch.func.grad(lambda x: x.tanh().exp().sum())
    assert raised(cache, MakeFx(), first_order, torch.ones(3)) == []


def test_a_gradient_that_is_traced_again(cache: Path) -> None:
    def of(program: Any, *args: Any) -> tuple[Alarm, ...]:
        job = Job(MakeFx(), program, args, {})
        found = capture(job, check="a::b", cache=cache)
        second = retraced(job, found, fixes="on", cache=cache)
        assert second is not None
        return retrace(found.program, second)

    (alarm,) = of(slope, torch.ones(3, requires_grad=True))
    assert "+2 aten.detach.default" in alarm.why
    layer = nn.Linear(3, 3)
    assert of(lambda x: layer(x).tanh() + torch.tensor([1.0, 2.0, 3.0]), torch.ones(2, 3)) == ()


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_a_dtensor_argument_is_baked_in(cache: Path, meshes: Meshes, mode: Any) -> None:
    """pytorch#167657."""
    from torch.distributed.tensor import DTensor, Replicate, Shard

    mesh = meshes.mesh((2,))
    shard = DTensor.from_local(torch.ones(2, 3), mesh, [Shard(0)], run_check=False)

    found = raised(cache, MakeFx(mode), lambda d: d.redistribute(mesh, [Replicate()]) * 2, shard)

    assert {"unused-input", "baked-input", "dead-node"} <= set(found)
    assert ("fake-constant" in found) == (mode == "fake")


def test_a_loss_leaves_a_dead_view(cache: Path, meshes: Meshes) -> None:
    """torchtitan#3818."""
    from torch.distributed.tensor import DTensor, Replicate, Shard
    from torch.distributed.tensor.parallel import loss_parallel

    mesh = meshes.mesh((2,))

    def step(logits: Tensor, target: Tensor) -> Tensor:
        with loss_parallel():
            whole = DTensor.from_local(logits, mesh, [Shard(1)], run_check=False)
            wanted = DTensor.from_local(target, mesh, [Replicate()], run_check=False)
            loss = nn.functional.cross_entropy(whole, wanted)
            return torch.autograd.grad(loss, logits)[0]

    logits = torch.ones(4, 6, requires_grad=True)
    assert raised(cache, MakeFx(), step, logits, torch.zeros(4, dtype=torch.int64)) == ["dead-node"]


@contextlib.contextmanager
def traced_propagation() -> Iterator[None]:
    """Put pytorch#185865 back: what sharding propagation computes on whole tensors is traced."""
    import torch.distributed.tensor._sharding_prop as room
    import torch.fx.experimental.proxy_tensor as proxies

    owner: Any = room.ShardingPropagator
    name = "_propagate_tensor_meta_non_cached"
    original = getattr(owner, name, None)
    if original is None:
        pytest.skip("this torch propagates elsewhere")

    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(proxies, "disable_proxy_modes_tracing", lambda *_, **__: contextlib.nullcontext())
            return original(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, traced)
        yield


def test_shadow_nodes_of_the_whole_shape(cache: Path, meshes: Meshes) -> None:
    from torch.distributed.tensor import DTensor, Replicate, Shard

    mesh = meshes.mesh((2,))

    def program(index: Tensor, weight: Tensor) -> Tensor:
        table = DTensor.from_local(weight, mesh, [Shard(0)], run_check=False)
        rows = nn.functional.embedding(DTensor.from_local(index, mesh, [Replicate()], run_check=False), table)
        return rows.redistribute(mesh, [Replicate()]).to_local().sin()

    args = (torch.zeros(4, dtype=torch.int64), torch.ones(4, 6))
    with traced_propagation():
        assert raised(cache, MakeFx("fake"), program, *args) == ["global-shape", "dead-node"]
    job = Job(MakeFx("fake"), program, args, {})
    # the caches are warm with it: what is traced cold, and without it, is another graph
    sound = capture(job, check="a::b", cache=cache).program
    assert [alarm.kind for alarm in alarms(sound)] == []
    assert unstable(sound, again(job, "a::b", fixes="on", cache=cache)) == ()


def test_what_aot_autograd_drops_is_seen_before(cache: Path) -> None:
    def program(x: Tensor, w: Tensor) -> Tensor:
        y = x @ w
        (y * 3).tanh()
        return y.relu()

    args = torch.ones(2, 3), torch.ones(3, 2, requires_grad=True)
    found = capture(Job(AotJoint(), program, args, {}), check="a::b", cache=cache)

    (alarm,) = alarms(found.program, found.dropped)
    assert (alarm.kind, alarm.why) == ("dead-node", "nothing uses it, with 1 more behind it; dropped since")
    assert "aten.tanh.default" in alarm.subject


@pytest.mark.parametrize("spec", [MakeFx(), AotJoint()], ids=["make_fx", "joint"])
def test_ordinary_programs_raise_none(cache: Path, spec: Tracer) -> None:
    for name, (program, args) in programs().items():
        found = capture(Job(spec, program, args, {}), check="a::b", cache=cache)
        assert alarms(found.program, found.dropped) == (), name

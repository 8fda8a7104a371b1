"""While tracker updates are off, fresh tensors get proxies and existing ones are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
from torch.fx.experimental import proxy_tensor

from guard.tracers.fixes import proxy_preservation as fix
from guard.tracers.fixes.preservation_programs import symptoms
from guard.tracers.mesh import Meshes

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACEMENTS = [(Shard(0), Shard(0)), (Shard(0), Replicate()), (Replicate(), Shard(0)), (Replicate(), Partial())]


@pytest.fixture
def mesh() -> Iterator[Any]:
    meshes = Meshes()
    yield meshes.mesh((2,))
    meshes.close()
    torch._dynamo.reset()


def rows(placement: Placement) -> int:
    return 4 if placement == Shard(0) else 8


def forward_of_training_step(mesh: Any, buffer: Placement, source: Placement) -> Any:
    """Compile a step that writes a DTensor buffer; return its forward graph."""
    graphs: list[Any] = []

    def compiler(module: Any, _: Any) -> Any:
        graphs.append(module)
        return make_boxed_func(module.forward)

    def step(x: Any, state: Any) -> Any:
        y = (x * 3).sin()
        state.copy_(x.detach() * 0.5 + 1)
        return y

    state = DTensor.from_local(torch.zeros(rows(buffer), 4), mesh, [buffer], run_check=False)
    x = DTensor.from_local(torch.ones(rows(source), 4), mesh, [source], run_check=False).requires_grad_()
    backend = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, keep_inference_input_mutations=True)
    torch.compile(step, backend=backend, fullgraph=True)(x, state)
    return graphs[0]


def writes(module: Any) -> int:
    return sum("copy_" in str(node.target) for node in module.graph.nodes)


@pytest.mark.parametrize(("buffer", "source"), PLACEMENTS)
def test_defect_kills_a_dtensor_mutation_under_training(mesh: Any, buffer: Placement, source: Placement) -> None:
    with fix.defect(), pytest.raises(Exception, match="Unexpected fake buffer"):
        forward_of_training_step(mesh, buffer, source)


@pytest.mark.parametrize(("buffer", "source"), PLACEMENTS)
def test_fix_mends_the_defect(mesh: Any, buffer: Placement, source: Placement) -> None:
    with fix.defect(), fix.apply() as note:
        assert writes(forward_of_training_step(mesh, buffer, source)) == 1
    assert note.engaged


def test_plant_is_not_mended(mesh: Any) -> None:
    with fix.plant(), fix.apply() as note, pytest.raises(Exception, match="Unexpected fake buffer"):
        forward_of_training_step(mesh, Shard(0), Shard(0))
    assert not note.engaged


def test_fix_gives_the_right_graphs_and_the_defect_does_not() -> None:
    with fix.apply():
        assert symptoms() == ()
    with fix.defect():
        assert symptoms() == ("fresh: no add of %0 and %1",)
    with fix.plant(), fix.apply():
        assert symptoms() == ("fresh: no add of %0 and %1",)


def test_clobbered_proxy_is_a_symptom(monkeypatch: pytest.MonkeyPatch) -> None:
    # with updates never off, the second write chains on the first
    monkeypatch.setattr(proxy_tensor, "_is_proxy_tensor_update_tensor_tracker_disabled", lambda: False)
    assert symptoms() == ("kept: no copy_ of %0 and %2",)


def test_torch_is_restored_whatever_happens() -> None:
    from torch._functorch._aot_autograd import graph_capture_wrappers as wrappers
    from torch.distributed.tensor._sharding_prop import ShardingPropagator

    def patched() -> tuple[Any, ...]:
        propagate = ShardingPropagator._propagate_tensor_meta_non_cached
        disable = proxy_tensor.disable_proxy_modes_tracing
        return proxy_tensor.set_proxy_slot, disable, propagate, wrappers.apply_in_graph_mutations

    before = patched()
    with pytest.raises(ZeroDivisionError), fix.apply(), fix.plant(), fix.apply():
        raise ZeroDivisionError
    assert patched() == before

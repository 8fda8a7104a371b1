from __future__ import annotations

import sys
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.distributed.fake_pg import FakeStore

from guard.errors import GuardError
from guard.tracers import mesh as room
from guard.tracers.mesh import Meshes

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def meshes() -> Iterator[Meshes]:
    made = Meshes()
    yield made
    made.close()
    if dist.is_initialized():
        dist.destroy_process_group()


def gathered_group(mesh: Any) -> str:
    """Trace a gather of an operator's output; return the name of the group that it gathers over.

    The output's mesh comes from the sharding cache, not from the argument.
    """

    def program(x: torch.Tensor) -> torch.Tensor:
        y = DTensor.from_local(x, mesh, [Shard(0)], run_check=False).sin()
        return y.redistribute(placements=[Replicate()]).to_local()

    graph = make_fx(program)(torch.ones(2, 2)).graph
    (name,) = [node.args[2] for node in graph.nodes if "all_gather" in str(node.target)]
    return str(name)


def second_group(meshes: Meshes) -> tuple[str, str]:
    """Name of the group over which a second group's graph gathers: as traced, and as it is."""
    meshes.mesh((4,))
    dist.new_group([0, 1])
    gathered_group(meshes.mesh((2, 2), names=("a", "b"))["b"])
    meshes.close()
    mesh = meshes.mesh((2, 2), names=("a", "b"))["b"]
    return gathered_group(mesh), mesh.get_group().group_name


def test_mesh_has_its_shape_names_and_world_size(meshes: Meshes) -> None:
    mesh = meshes.mesh((2, 4), names=("dp", "tp"))
    assert mesh.shape == (2, 4)
    assert mesh.mesh_dim_names == ("dp", "tp")
    assert dist.get_world_size() == 8
    assert dist.get_backend() == "fake"


def test_mesh_is_seen_from_the_rank_asked_for(meshes: Meshes) -> None:
    assert tuple(meshes.mesh((2, 2), rank=3).get_coordinate()) == (1, 1)


def test_meshes_of_one_size_share_the_group(meshes: Meshes) -> None:
    meshes.mesh((8,))
    world = dist.group.WORLD
    assert meshes.mesh((2, 4)).shape == (2, 4)
    assert dist.group.WORLD is world


def test_another_size_is_refused(meshes: Meshes) -> None:
    meshes.mesh((2,))
    with pytest.raises(GuardError, match="wanted 4 ranks seen from rank 0, but this test already has 2"):
        meshes.mesh((4,))


def test_another_rank_is_refused(meshes: Meshes) -> None:
    meshes.mesh((2,))
    with pytest.raises(GuardError, match="wanted 2 ranks seen from rank 1"):
        meshes.mesh((2,), rank=1)


def test_the_users_own_group_is_refused_and_left_alone(meshes: Meshes) -> None:
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
    with pytest.raises(GuardError, match=r"4 ranks is already initialized\n  guard.mesh is the only way"):
        meshes.mesh((2,))
    meshes.close()
    assert dist.get_world_size() == 4


@pytest.mark.parametrize("shape", [(), (0,), (2, -1), (True,), (2.0,)], ids=str)
def test_a_shape_that_is_none_is_refused(meshes: Meshes, shape: tuple[Any, ...]) -> None:
    with pytest.raises(GuardError, match="wanted a shape of positive integers"):
        meshes.mesh(shape)
    assert not dist.is_initialized()


def test_names_that_do_not_fit_are_refused(meshes: Meshes) -> None:
    with pytest.raises(GuardError, match="one name for each of the 2 dimensions"):
        meshes.mesh((2, 4), names=("dp",))


def test_a_rank_outside_is_refused(meshes: Meshes) -> None:
    with pytest.raises(GuardError, match="wanted a rank from 0 to 1, got 2"):
        meshes.mesh((2,), rank=2)


def test_close_leaves_nothing(meshes: Meshes) -> None:
    hook = sys.excepthook
    meshes.mesh((2,))
    assert sys.excepthook is not hook, "torch no longer wraps it: drop the restoring"
    meshes.close()
    assert sys.excepthook is hook
    assert not dist.is_initialized()
    meshes.close()


def test_close_after_the_program_destroyed_the_group(meshes: Meshes) -> None:
    hook = sys.excepthook
    meshes.mesh((2,))
    dist.destroy_process_group()
    meshes.close()
    assert sys.excepthook is hook


def test_one_process_takes_many_sizes(meshes: Meshes) -> None:
    for size in (2, 4, 64, 2):
        mesh = meshes.mesh((size,))
        assert gathered_group(mesh) == mesh.get_group().group_name
        meshes.close()


def test_no_name_of_an_earlier_group_reaches_a_graph(meshes: Meshes) -> None:
    traced, actual = second_group(meshes)
    assert traced == actual


def test_without_clearing_the_caches_one_does(meshes: Meshes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "clear_sharding_caches", lambda: None)
    with pytest.raises(RuntimeError, match="Could not resolve the process group"):
        second_group(meshes)


def test_caches_are_cleared_where_torch_has_no_debug_function(meshes: Meshes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch 2.9 has only propagate_op_sharding.cache, an lru_cache."""
    cache = lru_cache(None)(str)
    cache(1)
    propagator = DTensor._op_dispatcher.sharding_propagator
    monkeypatch.delattr("torch.distributed.tensor.debug._clear_sharding_prop_cache")
    monkeypatch.setattr(propagator, "propagate_op_sharding", SimpleNamespace(cache=cache))
    meshes.mesh((2,))
    assert cache.cache_info().currsize == 0

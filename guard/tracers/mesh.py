"""Device meshes of a check over one fake process group: owns the group's life. Knows no tracer."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from guard.errors import GuardError

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


class Meshes:
    """The meshes of one test. All of them share one process group, so their sizes must agree.

    The group is torch's fake one: every collective returns at once and its result is garbage, so a graph can be
    captured for any number of ranks in one process.
    """

    def __init__(self) -> None:
        self._group: _FakeGroup | None = None

    def mesh(
        self, shape: tuple[int, ...], names: tuple[str, ...] | None = None, *, device: str = "cpu", rank: int = 0
    ) -> DeviceMesh:
        """Make a mesh of ``shape``, whose product is the world size, as ``rank`` sees it.

        Raises GuardError where a process group lives that guard did not make, where an earlier mesh of the same test
        has another world size or rank, and where the shape or the names cannot be a mesh.
        """
        _check_shape(shape, names)
        size = math.prod(shape)
        _check_rank(rank, size)
        if self._group is None:
            self._group = _FakeGroup(size, rank)
        self._group.check_same(size, rank)
        return init_device_mesh(device, shape, mesh_dim_names=names)

    def close(self) -> None:
        """Destroy the group, if there is one; a second call does nothing."""
        group, self._group = self._group, None
        if group is not None:
            group.destroy()


class _FakeGroup:
    """A default process group of torch's fake backend, and what its making disturbed."""

    def __init__(self, size: int, rank: int) -> None:
        if dist.is_initialized():
            raise GuardError(
                f"a process group of {dist.get_world_size()} ranks is already initialized",
                "guard.mesh is the only way to a mesh in a check: drop the init_process_group or init_device_mesh",
            )
        self._size, self._rank = size, rank
        # init_process_group wraps it once more at each init ("[rank0]: ..."), and destroy leaves it (2.9 - 2.14)
        self._excepthook = sys.excepthook
        # survives destroy_process_group and puts names of dead groups into the next graph
        clear_sharding_caches()
        dist.init_process_group("fake", store=_fake_store(), rank=rank, world_size=size)

    def check_same(self, size: int, rank: int) -> None:
        """Refuse a mesh of another world size or rank than the group's."""
        if (size, rank) != (self._size, self._rank):
            raise GuardError(
                f"guard.mesh: wanted {size} ranks seen from rank {rank}, "
                f"but this test already has {self._size} ranks seen from rank {self._rank}",
                'make meshes of one world size in a test, or slice one: mesh["dp"]',
            )

    def destroy(self) -> None:
        """Undo what the making did; a group that the program destroyed itself is fine."""
        if dist.is_initialized():
            dist.destroy_process_group()
        sys.excepthook = self._excepthook
        clear_sharding_caches()


def _check_shape(shape: tuple[int, ...], names: tuple[str, ...] | None) -> None:
    if not shape or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in shape):
        raise GuardError(f"guard.mesh: wanted a shape of positive integers such as (2, 4), got {shape!r}")
    if names is not None and len(names) != len(shape):
        raise GuardError(
            f"guard.mesh: wanted one name for each of the {len(shape)} dimensions of {shape}, got {names!r}"
        )


def _check_rank(rank: int, size: int) -> None:
    if not 0 <= rank < size:
        raise GuardError(f"guard.mesh: wanted a rank from 0 to {size - 1}, got {rank}")


def _fake_store() -> dist.Store:
    """Torch keeps its fake backend among its test code; importing it registers the backend."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    return FakeStore()


def clear_sharding_caches() -> None:
    """Forget every sharding decision: the Python cache, the C++ fast path and the tensor metadata."""
    from torch.distributed.tensor import DTensor, debug

    propagator = DTensor._op_dispatcher.sharding_propagator
    clear = getattr(debug, "_clear_sharding_prop_cache", None)
    if clear is None:  # torch 2.9: no debug function, no fast path, and a cache that cannot clear itself
        clear = propagator.propagate_op_sharding.cache.cache_clear
    clear()
    metadata = getattr(propagator, "_propagate_tensor_meta_cached", None)
    if metadata is not None:
        metadata.cache_clear()

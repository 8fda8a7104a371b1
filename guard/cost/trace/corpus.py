"""Programs to measure counting by: one of each tracer, small, the same everywhere. For the self-test and benchmarks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from guard.specs import AotJoint, Compile, MakeFx
from guard.tracers.capture import Job
from guard.tracers.mesh import Meshes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.distributed.device_mesh import DeviceMesh

PRODUCTS = 10
SIZE = 128  # of the matrices: a product takes ten times what dispatching it takes


@contextmanager
def jobs() -> Iterator[dict[str, Job]]:
    """Give each job by its name; their mesh lives as long as the block."""
    meshes = Meshes()
    x, y = torch.ones(8, 8, requires_grad=True), torch.ones(8, 8)
    layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    try:
        yield {
            "real": Job(MakeFx(), _chain(4), (x, y), {}),
            "fake": Job(MakeFx("fake"), _chain(4), (x, y), {}),
            "symbolic": Job(MakeFx("symbolic"), _chain(4), (x, y), {}),
            "joint": Job(AotJoint(), layers, (y,), {}),
            "sharded joint": Job(AotJoint(), _sharded(meshes.mesh((2, 4), ("dp", "tp"))), (x, y), {}),
            "compile": Job(Compile(), layers, (y,), {}),
        }
    finally:
        meshes.close()


def heavy() -> Job:
    """Return a job whose graph runs long enough to be timed."""
    x = torch.ones(SIZE, SIZE) / SIZE
    return Job(MakeFx("fake"), _chain(PRODUCTS), (x, x), {})


def _chain(length: int) -> Callable[..., Any]:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(length):
            x = (x @ y).relu()
        return x.sum()

    return program


def _sharded(mesh: DeviceMesh) -> Callable[..., Any]:
    from torch.distributed.tensor import DTensor, Replicate, Shard

    def program(x: torch.Tensor, y: torch.Tensor) -> Any:
        left = DTensor.from_local(x, mesh, [Shard(0), Replicate()])
        right = DTensor.from_local(y, mesh, [Replicate(), Shard(1)])
        return (left @ right).relu().sum()

    return program

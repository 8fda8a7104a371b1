"""Programs whose traces are counted, and their counts in this process as JSON: run as a script by tests."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.tensor import DTensor, Replicate, Shard

from guard.cost.trace.cost import cost
from guard.specs import AotJoint, Compile, MakeFx
from guard.tracers.capture import Job, capture
from guard.tracers.mesh import Meshes

if TYPE_CHECKING:
    from collections.abc import Iterator


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for _ in range(4):
        x = (x @ y).relu()
    return x.sum()


@contextlib.contextmanager
def jobs() -> Iterator[dict[str, Job]]:
    """One of each tracer; the mesh lives as long as the block."""
    meshes = Meshes()
    mesh = meshes.mesh((2, 4), ("dp", "tp"))

    def sharded(x: torch.Tensor, y: torch.Tensor) -> Any:
        left = DTensor.from_local(x, mesh, [Shard(0), Replicate()])
        right = DTensor.from_local(y, mesh, [Replicate(), Shard(1)])
        return (left @ right).relu().sum()

    x, y = torch.ones(8, 8, requires_grad=True), torch.ones(8, 8)
    layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    yield {
        "real": Job(MakeFx(), chain, (x, y), {}),
        "fake": Job(MakeFx("fake"), chain, (x, y), {}),
        "symbolic": Job(MakeFx("symbolic"), chain, (x, y), {}),
        "joint": Job(AotJoint(), layers, (y,), {}),
        "sharded joint": Job(AotJoint(), sharded, (x, y), {}),
        "compile": Job(Compile(), layers, (y,), {}),
    }
    meshes.close()


def counts(names: list[str]) -> dict[str, int | str]:
    """Capture each once, as guard.check does, and count it."""
    found: dict[str, int | str] = {}
    with jobs() as named:
        for name in names or named:
            job = named[name]
            capture(job, check="a::b", fixes="off")
            counted = cost(job, fixes="off")
            found[name] = counted if isinstance(counted, str) else counted.calls
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(counts(sys.argv[1:])))

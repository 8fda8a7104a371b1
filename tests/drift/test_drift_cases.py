"""Public reports, as drift: the seed's two graphs, and real captures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Replicate, Shard, debug

from guard.drift.classify import changes
from guard.ir.parser import parse_bytes
from guard.ir.printer import print_program
from guard.specs import Compile, MakeFx
from guard.tracers.capture import Job, capture
from guard.tracers.fixes.traced_propagation import propagation_traced
from guard.tracers.mesh import Meshes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.ir.graph import Program

SEED = Path(__file__).parents[1] / "data" / "seed_93290"


@pytest.fixture
def meshes() -> Iterator[Meshes]:
    made = Meshes()
    yield made
    made.close()


def captured(program: Callable[..., Any], *args: Any, tracer: Any) -> Program:
    return capture(Job(tracer, program, args, {}), check="a::b", fixes="on").program


@pytest.mark.parametrize(("one", "other", "sign"), [("after", "before", "+"), ("before", "after", "-")])
def test_what_an_inner_trace_left_is_one_proxy_leak_of_a_public_number(one: str, other: str, sign: str) -> None:
    baseline, current = (parse_bytes((SEED / f"{name}.graph").read_bytes()) for name in (one, other))

    (change,) = changes(baseline, current)

    assert (change.kind, change.title) == ("proxy-leak", f"{sign}4 nodes: 3 detach, 1 expand")
    assert change.known == "an inner make_fx left nodes in this graph (pytorch#93290)"
    assert [line[0] for line in change.lines if line[0] != " "] == [sign] * 4


@pytest.mark.parametrize("name", ["before", "after"])
def test_the_seed_s_graphs_print_as_they_stand(name: str) -> None:
    text = (SEED / f"{name}.graph").read_bytes()
    assert print_program(parse_bytes(text)).encode() == text


def by_split(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    q, k, v = x.split([8, 4, 4], -1)
    return q.reshape(-1, 2, 4) * 2, k + 1, v * 3


def by_slices(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    q, k, v = x[:, :8], x[:, 8:12], x[:, 12:16]
    return q.reshape(-1, 2, 4) * 2, k + 1, v * 3


def test_slices_instead_of_a_split_are_one_change() -> None:
    """pytorch#197358: a matcher of split_with_sizes finds nothing any more."""
    x = torch.ones(3, 16)
    (change,) = changes(captured(by_split, x, tracer=Compile()), captured(by_slices, x, tracer=Compile()))

    assert (change.kind, change.title) == ("structure", "split_with_sizes -> 3 slice")
    assert change.known is not None
    assert "pytorch#194037" in change.known
    assert change.source is not None
    assert change.source.rpartition(":")[0].endswith("test_drift_cases.py")


def embedding(mesh: Any) -> Callable[..., torch.Tensor]:
    def program(indices: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        debug._clear_sharding_prop_cache()
        rows = DTensor.from_local(indices, mesh, [Replicate()], run_check=False)
        table = DTensor.from_local(weight, mesh, [Shard(0)], run_check=False)
        return torch.nn.functional.embedding(rows, table).redistribute(mesh, [Replicate()]).to_local().sin()

    return program


def test_traced_sharding_propagation_is_one_proxy_leak(meshes: Meshes) -> None:
    program = embedding(meshes.mesh((2,)))
    args = torch.zeros(4, dtype=torch.int64), torch.ones(4, 6)
    clean = captured(program, *args, tracer=MakeFx(tracing_mode="fake"))
    with propagation_traced():
        leaky = captured(program, *args, tracer=MakeFx(tracing_mode="fake"))

    (change,) = changes(clean, leaky)

    assert (change.kind, change.title) == ("proxy-leak", "+3 nodes: 2 empty_strided, 1 embedding")
    assert change.known == "sharding propagation was traced into this graph (pytorch#185865)"


def test_an_unrelated_group_made_first_is_no_change(meshes: Meshes) -> None:
    """pytorch#189330: the group's name is a literal in torch's graph."""
    seen = []
    for extra in range(2):
        mesh = meshes.mesh((2, 2), names=("a", "b"))["b"]
        for _ in range(extra):
            dist.new_group([0, 1])

        def program(x: torch.Tensor, mesh: Any = mesh) -> torch.Tensor:
            part = DTensor.from_local(x, mesh, [Shard(0)], run_check=False)
            return part.redistribute(mesh, [Replicate()]).to_local()

        seen.append(captured(program, torch.ones(2, 2), tracer=MakeFx()))
        meshes.close()

    assert changes(*seen) == ()

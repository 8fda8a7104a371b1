"""Alarms against tracing and against themselves on a larger graph: ratios in one run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.test_cost import lowered
from benchmarks.test_lower import growth_of_a_node, seconds
from guard.alarms.program import alarms

if TYPE_CHECKING:
    import pytest
    from pytest_benchmark.fixture import BenchmarkFixture

MOST_OF_TRACING = 0.02
MOST_GROWTH = 1.5


def test_alarms_cost_little_of_tracing(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    program, tracing = lowered(10_000)
    nodes = len(program.graphs[0].nodes)
    of_tracing = min(seconds(lambda: alarms(program)) for _ in range(7)) / nodes / tracing
    benchmark(alarms, program)
    benchmark.extra_info.update(nodes=nodes, of_tracing=of_tracing)
    with capsys.disabled():
        sys.stdout.write(f"\nalarms of {nodes} nodes: {of_tracing:.4f} of tracing them\n")

    assert of_tracing <= MOST_OF_TRACING


def test_alarms_of_a_node_do_not_grow(capsys: pytest.CaptureFixture[str]) -> None:
    small, large = lowered(1_000)[0], lowered(100_000)[0]
    times = len(large.graphs[0].nodes) // len(small.graphs[0].nodes)
    growth = growth_of_a_node(alarms, small, large, times, 3)
    with capsys.disabled():
        sys.stdout.write(f"\nalarms, 100k against 1k nodes: {growth:.2f}x a node\n")

    assert growth <= MOST_GROWTH

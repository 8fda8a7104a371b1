"""Graph cost against tracing and against itself on a larger graph: ratios in one run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.test_lower import graph, growth_of_a_node, seconds
from guard.cost.flops import formulas
from guard.ir.graph import Program
from guard.ir.lower.context import Context
from guard.ir.lower.walk import lower_graph
from guard.session.costs import compare_costs

if TYPE_CHECKING:
    import pytest
    from pytest_benchmark.fixture import BenchmarkFixture

MOST_OF_TRACING = 0.05
MOST_GROWTH = 1.5


def lowered(size: int) -> tuple[Program, float]:
    """A program of about ``size`` nodes, and CPU seconds a node that tracing it took."""
    module, tracing = graph(size)
    return Program("benchmark::main", "make_fx()", (lower_graph(module, Context("main"))[0],)), tracing


def test_both_graphs_cost_little_of_tracing(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    assert formulas() is not None
    program, tracing = lowered(10_000)
    nodes = len(program.graphs[0].nodes)
    of_tracing = min(seconds(lambda: compare_costs(program, program)) for _ in range(7)) / nodes / tracing
    benchmark(compare_costs, program, program)
    benchmark.extra_info.update(nodes=nodes, of_tracing=of_tracing)
    with capsys.disabled():
        sys.stdout.write(f"\ngraph cost of two graphs of {nodes} nodes: {of_tracing:.4f} of tracing one\n")

    assert of_tracing <= MOST_OF_TRACING


def test_cost_of_a_node_does_not_grow(capsys: pytest.CaptureFixture[str]) -> None:
    small, large = lowered(1_000)[0], lowered(100_000)[0]
    times = len(large.graphs[0].nodes) // len(small.graphs[0].nodes)
    growth = growth_of_a_node(lambda program: compare_costs(program, program), small, large, times, 3)
    with capsys.disabled():
        sys.stdout.write(f"\ngraph cost, 100k against 1k nodes: {growth:.2f}x a node\n")

    assert growth <= MOST_GROWTH

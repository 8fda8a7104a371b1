"""Lowering and printing against torch's own print_readable and against the trace itself: ratios in one run."""

from __future__ import annotations

import gc
import sys
import time
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from guard.ir.graph import Program
from guard.ir.lower.context import Context
from guard.ir.lower.walk import lower_graph
from guard.ir.printer import print_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

MOST_OF_READABLE = 0.3
MOST_OF_TRACING = 0.03
MOST_GROWTH = 1.5
TRACED = 10_000
"""Nodes up to which the graph is really traced; larger ones repeat its nodes, since tracing 100k takes minutes."""


def block(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Ten operations: matrix products, pointwise ones, views and a reduction."""
    h = (x @ y + 1).relu()
    h = torch.nn.functional.layer_norm(h, (8,))
    return (h.view(16, 4).transpose(0, 1).reshape(8, 8) * x).softmax(-1)


def program(x: torch.Tensor, y: torch.Tensor, count: int) -> torch.Tensor:
    for _ in range(count):
        x = block(x, y)
    return x


def trace(count: int) -> tuple[torch.fx.GraphModule, float]:
    """Return the graph, and CPU seconds a node that tracing it took."""
    make_fx(block, tracing_mode="fake")(torch.ones(8, 8), torch.ones(8, 8))
    started = time.process_time()
    module = make_fx(lambda x, y: program(x, y, count), tracing_mode="fake")(torch.ones(8, 8), torch.ones(8, 8))
    return module, (time.process_time() - started) / len(module.graph.nodes)


@cache
def graph(size: int) -> tuple[torch.fx.GraphModule, float]:
    """A graph of about ``size`` nodes; the trace's cost a node is that of the part that was traced."""
    module, seconds = trace(max(1, min(size, TRACED) // 12))
    return (repeated(module, size) if size > TRACED else module), seconds


def repeated(module: torch.fx.GraphModule, size: int) -> torch.fx.GraphModule:
    """Chain copies of one graph, each fed by the one before; meta is copied shallowly, as fx passes do."""
    made = torch.fx.Graph()
    x, y = made.placeholder("x"), made.placeholder("y")
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    x.meta, y.meta = inputs[0].meta, inputs[1].meta
    current: Any = x
    while len(made.nodes) < size:
        current = made.graph_copy(module.graph, {inputs[0]: current, inputs[1]: y})
        current = current[0] if isinstance(current, (tuple, list)) else current
    made.output(current)
    return torch.fx.GraphModule(torch.nn.Module(), made)


def lower_and_print(module: torch.fx.GraphModule) -> str:
    lowered, _ = lower_graph(module, Context("main"))
    return print_program(Program("benchmark::main", "make_fx()", (lowered,)))


def seconds(function: Callable[[], Any]) -> float:
    """CPU seconds of one call, after a collection."""
    gc.collect()
    started = time.process_time()
    function()
    return time.process_time() - started


def ratio(a: Callable[[], Any], b: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Median over rounds of a's time by b's, run in turn: a busy neighbour slows both. With it, least seconds of a."""
    pairs = [(seconds(a), seconds(b)) for _ in range(rounds)]
    return median(first / second for first, second in pairs), min(first for first, _ in pairs)


def growth_of_a_node(work: Callable[[Any], object], small: Any, large: Any, times: int, rounds: int) -> float:
    """Return the time of the large one by that of ``times`` small ones, which have as many nodes."""

    def many() -> None:
        for _ in range(times):
            work(small)

    return ratio(lambda: work(large), many, rounds)[0]


@pytest.mark.parametrize("size", [1_000, 10_000, 100_000])
def test_lower_and_print(benchmark: BenchmarkFixture, size: int, capsys: pytest.CaptureFixture[str]) -> None:
    module, tracing = graph(size)
    nodes = len(module.graph.nodes)
    rounds = {1_000: 61, 10_000: 15, 100_000: 5}[size]  # a short round is a noisy one
    of_readable, least = ratio(
        lambda: lower_and_print(module), lambda: module.print_readable(print_output=False), rounds
    )
    of_tracing = least / nodes / tracing
    benchmark(lower_and_print, module)
    benchmark.extra_info.update(nodes=nodes, of_readable=of_readable, of_tracing=of_tracing)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{nodes} nodes: {least / nodes * 1e6:.2f} us a node, {of_readable:.3f}x of print_readable, "
            f"{of_tracing:.4f} of tracing\n"
        )

    assert of_readable <= MOST_OF_READABLE
    assert size != 10_000 or of_tracing <= MOST_OF_TRACING


def test_time_per_node_does_not_grow(capsys: pytest.CaptureFixture[str]) -> None:
    small, large = graph(1_000)[0], graph(100_000)[0]
    growth = growth_of_a_node(lower_and_print, small, large, len(large.graph.nodes) // len(small.graph.nodes), 5)
    with capsys.disabled():
        sys.stdout.write(f"\n100k against 1k nodes: {growth:.2f}x a node\n")

    assert growth <= MOST_GROWTH

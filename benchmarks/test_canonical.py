"""Canonical form against print_readable, and its growth: ratios in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.test_lower import best, graph
from guard.ir.canonical import canonical
from guard.ir.graph import Effect, Graph, Input, Node, Output, Ref, Result, Token
from guard.ir.lower.context import Context
from guard.ir.lower.walk import lower_graph
from guard.ir.printer import print_graph
from guard.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_OF_READABLE = 0.4
MOST_GROWTH = 2.0
MATRIX, VECTOR = TensorType("f32", (4, 4)), TensorType("f32", (16,))


def node(place: int) -> Node:
    """Repeat a sum, a view, a reduction with a keyword, and two results of which one is unused."""
    name, last = str(place), str(place - 1) if place else "x"
    far = str(place - 7) if place >= 7 else "x"
    return (
        Node((Result(name, MATRIX),), "aten.add.Tensor", (Ref(last), Ref(far))),
        Node((Result(name, VECTOR),), "aten.view.default", (Ref(last), (16,)), (), (Effect("alias", (last,)),)),
        Node((Result(name, MATRIX),), "aten.sum.dim_IntList", (Ref(last), (0, 1)), (("dtype", Token("dtype", "f32")),)),
        Node((Result(name, MATRIX), Result(None, MATRIX)), "aten.native_dropout.default", (Ref(last), 0.5, True)),
    )[place % 4]


def made(size: int) -> Graph:
    """Chain nodes: the deepest graph of its size."""
    nodes = tuple(node(place) for place in range(size))
    return Graph("main", (Input("x", MATRIX),), nodes, (Output(Ref(str(size - 1)), MATRIX),))


@pytest.mark.parametrize("function", [canonical, print_graph])
def test_time_per_node_does_not_grow(benchmark: Any, function: Callable[[Graph], object]) -> None:
    small, large = made(1_000), made(100_000)
    a = best(lambda: function(small), 15) / 1_000
    b = best(lambda: function(large), 3) / 100_000
    benchmark.pedantic(function, args=(large,), rounds=1)
    benchmark.extra_info.update(us_per_node=b * 1e6, growth=b / a)

    assert b <= MOST_GROWTH * a, f"{a * 1e6:.2f} us a node at 1k, {b / a:.2f}x at 100k"


@pytest.mark.parametrize("size", [1_000, 10_000])
def test_canonical_against_print_readable(benchmark: Any, size: int) -> None:
    module, _tracing = graph(size)
    lowered, _bodies = lower_graph(module, Context("main"))
    readable = best(lambda: module.print_readable(print_output=False), 3)
    ours = best(lambda: canonical(lowered))
    benchmark.pedantic(canonical, args=(lowered,), rounds=3)
    benchmark.extra_info.update(us_per_node=ours / len(lowered.nodes) * 1e6, of_readable=ours / readable)

    assert ours <= MOST_OF_READABLE * readable, f"{ours / readable:.3f}x of print_readable"

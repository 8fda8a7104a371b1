"""Canonical form against print_readable, and its growth: ratios in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.test_lower import graph, ratio
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

    def many() -> None:
        for _ in range(100):
            function(small)

    growth, least = ratio(lambda: function(large), many, 5)
    benchmark.pedantic(function, args=(large,), rounds=1)
    benchmark.extra_info.update(us_per_node=least * 10, growth=growth)

    assert growth <= MOST_GROWTH, f"{least * 10:.2f} us a node, {growth:.2f}x of what it is at 1k"


@pytest.mark.parametrize("size", [1_000, 10_000])
def test_canonical_against_print_readable(benchmark: Any, size: int) -> None:
    module, _tracing = graph(size)
    lowered, _bodies = lower_graph(module, Context("main"))
    of_readable, least = ratio(lambda: canonical(lowered), lambda: module.print_readable(print_output=False), 9)
    benchmark.pedantic(canonical, args=(lowered,), rounds=3)
    benchmark.extra_info.update(us_per_node=least / len(lowered.nodes) * 1e6, of_readable=of_readable)

    assert of_readable <= MOST_OF_READABLE, f"{of_readable:.3f}x of print_readable"

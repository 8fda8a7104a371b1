"""Align and classify against printing both graphs, and its growth, beside difflib and networkx: ratios in one run."""

from __future__ import annotations

import difflib
import multiprocessing
import random
import time
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import networkx as nx  # type: ignore[import-untyped]
import pytest

from benchmarks.test_canonical import made
from benchmarks.test_lower import ratio
from guard.drift.classify import changes
from guard.ir.graph import Node, Program, Ref
from guard.ir.printer import print_graph, print_program
from guard.ir.types import TensorType
from guard.ir.uses import refs

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.graph import Graph

MOST_OF_PRINTING = 2.0
MOST_GROWTH = 1.5
LIMIT_S = 60
SHARE = 0.01
HALF = TensorType("f16", (4, 4))


def changed(graph: Graph, share: float = SHARE, kinds: int = 4) -> Graph:
    """Change one node in a hundred: its operator, a literal, its type, or with a node inserted before it."""
    draw = random.Random(0)  # noqa: S311 - the same graph each time
    nodes: list[Node] = []
    for node in graph.nodes:
        nodes += _changed(node, draw.randrange(kinds)) if draw.random() < share else [node]
    return replace(graph, nodes=tuple(nodes))


def _changed(node: Node, kind: int) -> list[Node]:
    first, *rest = node.results
    if kind == 0:
        return [node._replace(target="aten.other.default")]
    if kind == 1:
        return [node._replace(args=(*node.args, 7))]
    if kind == 2:
        return [node._replace(results=(first._replace(type=HALF), *rest))]
    name = f"x{first.name}"
    clone = Node((first,), "aten.clone.default", (Ref(name),))
    return [node._replace(results=(first._replace(name=name), *rest)), clone]


def pair(size: int, kinds: int = 4) -> tuple[Program, Program]:
    graph = made(size)
    return Program("a::b", "t", (graph,)), Program("a::b", "t", (changed(graph, kinds=kinds),))


def best(function: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def test_a_hundred_thousand_nodes_against_printing_both(benchmark: Any) -> None:
    a, b = pair(100_000)
    of_printing, least = ratio(lambda: changes(a, b), lambda: (print_graph(a.graphs[0]), print_graph(b.graphs[0])), 7)
    benchmark.pedantic(changes, args=(a, b), rounds=1)
    benchmark.extra_info.update(of_printing=of_printing, changes=len(changes(a, b)))

    assert of_printing <= MOST_OF_PRINTING, f"{least:.2f} s, {of_printing:.2f}x of printing both"


def test_time_and_memory_grow_with_the_nodes(benchmark: Any) -> None:
    small, large = pair(10_000), pair(100_000)
    seconds = [best(lambda: changes(*small), 10) / 10_000, best(lambda: changes(*large), 3) / 100_000]
    peaks = [_peak(small) / 10_000, _peak(large) / 100_000]
    benchmark.pedantic(changes, args=small, rounds=1)
    benchmark.extra_info.update(us_per_node=seconds[1] * 1e6, bytes_per_node=peaks[1])

    assert seconds[1] <= MOST_GROWTH * seconds[0], f"{seconds[1] / seconds[0]:.2f}x a node"
    assert peaks[1] <= MOST_GROWTH * peaks[0], f"{peaks[1]:.0f} bytes a node, {peaks[1] / peaks[0]:.2f}x"


def _peak(programs: tuple[Program, Program]) -> int:
    tracemalloc.start()
    changes(*programs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("size", [1_000, 10_000])
@pytest.mark.parametrize("other", ["difflib", "networkx"])
def test_beside_what_else_there_is(benchmark: Any, other: str, size: int) -> None:
    """Say what others take, cut off after a minute; ours is never slower.

    networkx gets changed operators only: with another number of nodes it says no without a search.
    """
    a, b = pair(size, 4 if other == "difflib" else 1)
    ours = best(lambda: changes(a, b), 3)
    process = multiprocessing.get_context("fork").Process(target=OTHERS[other], args=(a, b))
    start = time.perf_counter()
    process.start()
    process.join(LIMIT_S)
    theirs = time.perf_counter() - start
    late = process.is_alive()
    if late:
        process.kill()
        process.join()
    benchmark.pedantic(changes, args=(a, b), rounds=1)
    benchmark.extra_info.update(other=other, theirs_s=theirs, ended=not late, times_ours=theirs / ours)

    assert theirs >= ours


def _difflib(a: Program, b: Program) -> None:
    list(difflib.unified_diff(print_program(a).splitlines(), print_program(b).splitlines()))


def _networkx(a: Program, b: Program) -> None:
    same = nx.algorithms.isomorphism.categorical_node_match("target", None)
    matcher = nx.algorithms.isomorphism.DiGraphMatcher(_network(a.graphs[0]), _network(b.graphs[0]), node_match=same)
    matcher.is_isomorphic()


def _network(graph: Graph) -> Any:
    network: Any = nx.DiGraph()
    for value in graph.inputs:
        network.add_node(value.name, target=value.role)
    for node in graph.nodes:
        name = node.results[0].name
        network.add_node(name, target=node.target)
        network.add_edges_from((used, name) for arg in node.args for used in refs(arg))
    return network


OTHERS: dict[str, Callable[[Program, Program], None]] = {"difflib": _difflib, "networkx": _networkx}

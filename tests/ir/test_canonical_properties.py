from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from guard.ir.canonical import canonical, equal
from guard.ir.graph import Effect, Graph, Input, Node, Output, Ref, Result
from guard.ir.parser import parse_program
from guard.ir.printer import print_program
from guard.ir.types import TensorType
from tests.ir.legal import Access, rename, reorder, storages
from tests.ir.strategies import graphs, programs

if TYPE_CHECKING:
    from random import Random

    from hypothesis.strategies import DrawFn

    from guard.ir.graph import Program

F32 = TensorType("f32", (2,))


@st.composite
def effectful(draw: DrawFn, *, distinct: bool = False) -> Graph:
    """Small dense graphs with many conflicts; with distinct operators no two nodes are interchangeable."""
    inputs = tuple(Input(name, F32, alias=draw(st.sampled_from([None, "a"])) if name == "b" else None) for name in "ab")
    values = ["a", "b"]
    nodes = []
    for place in range(draw(st.integers(1, 9))):
        operands = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2))
        effects = draw(st.sampled_from(EFFECTS))
        target = f"op.{place}" if distinct else draw(st.sampled_from(["f", "g"]))
        results = (Result(str(place), F32), Result(None, F32))[: draw(st.integers(0, 2))]
        on_first = tuple(Effect(kind, (operands[0],) if kind in ("alias", "write") else on) for kind, on in effects)
        nodes.append(Node(results, target, tuple(map(Ref, operands)), (), on_first))
        values += [result.name for result in results if result.name is not None]
    outputs = tuple(Output(Ref(name), F32) for name in draw(st.lists(st.sampled_from(values), max_size=2)))
    return Graph("main", inputs, tuple(nodes), outputs)


EFFECTS: list[tuple[tuple[str, tuple[str, ...]], ...]] = [
    (), (), (),
    (("alias", ()),), (("write", ()),), (("write", ()), ("alias", ())),
    (("rng", ("cpu",)),), (("rng", ("cuda:0",)),), (("comm", ()),), (("mode", ()),), (("barrier", ()),),
]  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(effectful(), st.randoms(use_true_random=False))
def test_legal_reorders_and_renames_are_equal(graph: Graph, random: Random) -> None:
    assert canonical(rename(reorder(graph, random))) == canonical(graph)


def _edits(graph: Graph, place: int) -> list[Graph]:
    """Change one thing that counts, each in another way."""
    node, rest = graph.nodes[place], (graph.nodes[:place], graph.nodes[place + 1 :])
    values = [Ref(value.name) for value in graph.inputs]
    nodes = [
        node._replace(target="other"),
        node._replace(args=(*node.args, 1)),
        node._replace(args=(values[0] if node.args[0] != values[0] else values[1], *node.args[1:])),
        node._replace(args=(*node.args[:-1], (node.args[-1],))),
        node._replace(kwargs=(("x", 1),)),
        node._replace(tags=("backward",)),
        node._replace(effects=(*node.effects, Effect("comm"))),
        node._replace(results=tuple(result._replace(type=TensorType("f16", (2,))) for result in node.results)),
        node._replace(results=(*node.results, Result(None, F32))),
    ]
    edited = [replace(graph, nodes=(*rest[0], new, *rest[1])) for new in nodes if new != node]
    edited.append(replace(graph, nodes=(*graph.nodes, Node((), "other", ()))))
    edited.append(replace(graph, outputs=(*graph.outputs, Output(1))))
    edited += [replace(graph, inputs=(graph.inputs[0]._replace(role="buffer"), graph.inputs[1]))]
    return edited


@settings(deadline=None, max_examples=100)
@given(effectful(distinct=True), st.integers(0, 8))
def test_no_edit_goes_unseen(graph: Graph, place: int) -> None:
    forms = [canonical(other) for other in (graph, *_edits(graph, place % len(graph.nodes)))]
    assert all(forms.count(form) == 1 for form in forms)


@settings(deadline=None, max_examples=60)
@given(graphs(), st.randoms(use_true_random=False))
def test_legal_reorders_of_every_construct_are_equal(graph: Graph, random: Random) -> None:
    assert canonical(rename(reorder(graph, random))) == canonical(graph)


@settings(deadline=None, max_examples=400)
@given(effectful(distinct=True), st.integers(0, 7))
def test_swapping_neighbours_is_equal_if_and_only_if_they_do_not_conflict(graph: Graph, place: int) -> None:
    place %= max(1, len(graph.nodes) - 1)
    pair = graph.nodes[place : place + 2]
    access = [Access(node, storages(graph)) for node in pair]
    if len(pair) < 2 or access[1].reads & access[0].defines:
        return
    swapped = Graph(
        "main", graph.inputs, (*graph.nodes[:place], pair[1], pair[0], *graph.nodes[place + 2 :]), graph.outputs
    )
    assert (canonical(swapped) == canonical(graph)) is not access[1].conflicts(access[0])


@settings(deadline=None, max_examples=60)
@given(programs())
def test_a_program_equals_what_is_read_back(program: Program) -> None:
    assert equal(program, parse_program(print_program(program)))

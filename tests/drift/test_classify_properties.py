"""Something is said if and only if two programs are not equal; legal rewrites say nothing; sides do not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from guard.drift.classify import changes
from guard.ir.canonical import equal
from guard.ir.graph import Program
from tests.ir.legal import rename, reorder
from tests.ir.strategies import graphs, programs
from tests.ir.test_canonical_properties import _edits, effectful

if TYPE_CHECKING:
    from random import Random

    from guard.ir.graph import Graph


def whole(graph: Graph) -> Program:
    return Program("a::b", "make_fx(tracing_mode=real)", (graph,))


@settings(deadline=None, max_examples=15)
@given(programs(), programs())
def test_programs_of_every_construct(a: Program, b: Program) -> None:
    a, b = replace(a, error=None), replace(b, error=None, tracer=a.tracer, events=a.events)
    assert (changes(a, b) == ()) is equal(a, b)


@settings(deadline=None, max_examples=80)
@given(effectful(), effectful())
def test_small_dense_graphs(a: Graph, b: Graph) -> None:
    assert (changes(whole(a), whole(b)) == ()) is equal(whole(a), whole(b))


@settings(deadline=None, max_examples=50)
@given(effectful() | graphs(), st.randoms(use_true_random=False))
def test_legal_reorders_and_renames_are_no_change(graph: Graph, random: Random) -> None:
    assert changes(whole(graph), whole(rename(reorder(graph, random)))) == ()


@settings(deadline=None, max_examples=15)
@given(effectful(distinct=True), st.integers(0, 8))
def test_one_edit_is_told_in_the_same_classes_from_both_sides(graph: Graph, place: int) -> None:
    for edited in _edits(graph, place % len(graph.nodes)):
        there, back = changes(whole(graph), whole(edited)), changes(whole(edited), whole(graph))
        assert there
        assert [change.kind for change in there] == [change.kind for change in back]


@settings(deadline=None, max_examples=15)
@given(effectful(distinct=True), st.integers(0, 8), st.randoms(use_true_random=False))
def test_a_legal_reorder_beside_an_edit_changes_no_class(graph: Graph, place: int, random: Random) -> None:
    place %= len(graph.nodes)
    for edited in _edits(graph, place):
        if edited.nodes[place].target != graph.nodes[place].target:
            continue  # another operator in another place: nothing says that it is the same node
        plain, moved = changes(whole(graph), whole(edited)), changes(whole(graph), whole(reorder(edited, random)))
        assert {change.kind for change in moved} == {change.kind for change in plain}

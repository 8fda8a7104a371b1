from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.errors import GraphSyntaxError
from guard.ir.arg_text import print_arg
from guard.ir.graph import Effect, Graph, Group, Node, Output, Program
from guard.ir.parser import parse_program
from guard.ir.printer import print_program
from guard.ir.ranks import print_ranks


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ((0, 1), "0, 1"),
        ((0, 1, 2, 3), "0, 1, 2, 3"),
        (tuple(range(64)), "0:64"),
        (tuple(range(3, 64, 8)), "3:60:8"),
        ((0, 1, 2, 3, 5), "0, 1, 2, 3, 5"),
        ((4, 3, 2, 1, 0), "4, 3, 2, 1, 0"),
        ((2, 2, 2, 2, 2), "2, 2, 2, 2, 2"),
    ],
)
def test_many_ranks_at_one_distance_print_as_a_slice(ranks: tuple[int, ...], text: str) -> None:
    assert print_ranks(ranks) == text


@given(
    st.lists(st.integers(0, 99), min_size=1, max_size=9)
    | st.builds(range, st.just(0), st.integers(5, 90), st.integers(1, 9))
)
def test_ranks_are_read_back(ranks: list[int]) -> None:
    node = Node((), "c10d.barrier.default", (Group(tuple(ranks)),), effects=(Effect("comm", tuple(ranks)),))
    program = Program("a::b", "t()", (Graph("main", (), (node,), (Output(None),)),))

    assert parse_program(print_program(program)) == program


@pytest.mark.parametrize("text", ["0:0", "5:1", "0:9:0", "0:99999999999", "0:", ":4"])
def test_a_slice_that_is_none_is_refused(text: str) -> None:
    node = Node((), "c10d.barrier.default", (Group((0, 1)),))
    program = print_program(Program("a::b", "t()", (Graph("main", (), (node,), ()),)))

    assert print_arg(Group((0, 1))) in program
    with pytest.raises(GraphSyntaxError):
        parse_program(program.replace("group(0, 1)", f"group({text})"))

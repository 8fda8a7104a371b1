from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.errors import GraphSyntaxError
from guard.ir.parser import parse_bytes, parse_program
from guard.ir.printer import print_program
from tests.ir.test_printer import EVERYTHING

if TYPE_CHECKING:
    from guard.ir.graph import Program

PIECES = [
    *'()[]{}<>,:=%@#"\\\n\r \0-1',
    *(
        "==",
        "%0",
        "->",
        "s0",
        "1.5",
        "inf",
        "not ",
        "return",
        "graph",
        "body",
        "f32",
        "dt<",
        "None",
        "alias",
        "é",
        "=======\n",
    ),
]
edits = st.tuples(st.integers(0, len(EVERYTHING)), st.integers(0, 5), st.sampled_from(PIECES) | st.text(max_size=3))


@settings(deadline=None, max_examples=600)
@given(st.lists(edits, min_size=1, max_size=3))
def test_an_edited_file_parses_or_is_a_syntax_error(changes: list[tuple[int, int, str]]) -> None:
    text = EVERYTHING
    for start, removed, added in changes:
        text = text[:start] + added + text[start + removed :]
    program, place = _parse(text)
    if program is None:
        assert (1, 1) <= place <= (text.count("\n") + 1, len(text) + 1)
    else:
        again = print_program(program)
        assert print_program(parse_program(again)) == again


def _parse(text: str) -> tuple[Program | None, tuple[int, int]]:
    try:
        return parse_program(text), (0, 0)
    except GraphSyntaxError as error:
        return None, (error.line, error.column)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=40), st.integers(0, len(EVERYTHING)))
def test_bytes_in_a_file_parse_or_are_a_syntax_error(data: bytes, start: int) -> None:
    with pytest.raises(GraphSyntaxError):
        parse_bytes(EVERYTHING[:start].encode() + b"\xfe" + data)

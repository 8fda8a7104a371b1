from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings

from guard.ir.expr_text import ordered, print_expr
from guard.ir.graph import Graph, Program
from guard.ir.parser import parse_program
from guard.ir.printer import print_program
from tests.ir.strategies import programs, raw_exprs

if TYPE_CHECKING:
    from guard.ir.expr import Expr


@settings(deadline=None, max_examples=120)
@given(programs())
def test_a_program_survives_print_and_parse(program: Program) -> None:
    text = print_program(program)
    parsed = parse_program(text)
    # repr tells 1, 1.0, True and -0.0 apart and takes nan for nan, which == does not
    assert repr(parsed) == repr(program)
    assert print_program(parsed) == text


@settings(deadline=None, max_examples=300)
@given(raw_exprs)
def test_an_expression_comes_back_in_order(expr: Expr) -> None:
    graph = Graph("main", (), (), (), where=(expr,))
    parsed = parse_program(print_program(Program("c", "t", (graph,)))).graphs[0].where[0]
    assert repr(parsed) == repr(ordered(expr))
    assert print_expr(parsed) == print_expr(expr)

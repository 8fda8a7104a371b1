"""Reader of symbolic expressions by precedence climbing. Knows no type and no graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guard.ir.expr import FUNCTIONS, Apply, Symbol
from guard.ir.expr_text import PRECEDENCE, VARIADIC

if TYPE_CHECKING:
    from guard.ir.expr import Expr
    from guard.ir.lexer import Cursor
    from guard.ir.types import Dim

SYMBOL = re.compile(r"[fsu][0-9]+")
CONSTANTS: dict[str, float | bool] = {"True": True, "False": False, "inf": float("inf"), "nan": float("nan")}
CALLS = frozenset(FUNCTIONS) - PRECEDENCE.keys()
_INFIX = {**PRECEDENCE, "-": PRECEDENCE["+"]}
del _INFIX["not"]


def read_expr(cursor: Cursor, level: int = 1) -> Expr:
    """Read an expression whose operators bind at least as tight as level."""
    return climb(cursor, _operand(cursor), level)


def climb(cursor: Cursor, left: Expr, level: int = 1) -> Expr:
    """Read on behind an operand that is read already."""
    depth = cursor.depth
    while at_operator(cursor) and _INFIX[cursor.token.text] >= level:
        left = _apply(cursor, cursor.token.text, left)
        cursor.deeper()  # a further operator nests what is read already: a // b // c
    cursor.depth = depth
    return left


def at_operator(cursor: Cursor) -> bool:
    """Tell whether an infix operator comes next."""
    token = cursor.token
    return token.text in _INFIX and token.kind in ("op", "word")


def read_dims(cursor: Cursor, close: str) -> tuple[Dim, ...]:
    """Read a shape or stride up to and with its closing bracket."""
    dims: list[Dim] = []
    while not cursor.accept(close):
        if dims:
            cursor.expect(",")
        dims.append(read_dim(cursor))
    return tuple(dims)


def read_dim(cursor: Cursor) -> Dim:
    """Read an integer or an expression."""
    start = cursor.token.start
    dim = read_expr(cursor)
    if isinstance(dim, (bool, float)):
        raise cursor.error(f'wanted an integer or an expression, got "{dim}"', start)
    return dim


def read_call(cursor: Cursor) -> Apply:
    """Read ``max(s0, 4)``, at its name."""
    function = cursor.take().text
    cursor.expect("(")
    cursor.deeper()
    args = [read_expr(cursor)]
    while cursor.accept(","):
        args.append(read_expr(cursor))
    cursor.depth -= 1
    cursor.expect(")")
    return Apply(function, tuple(args))


def read_symbol(cursor: Cursor) -> Symbol:
    """Read ``s0`` or ``sym("odd")``."""
    word = cursor.take().text
    if word != "sym":
        return Symbol(word)
    cursor.expect("(")
    name = cursor.string("a symbol's name in quotes")
    cursor.expect(")")
    return Symbol(name)


def read_negation(cursor: Cursor) -> Apply:
    """Read ``not ...``."""
    cursor.expect("not")
    cursor.deeper()
    inner = read_expr(cursor, PRECEDENCE["not"] + 1)
    cursor.depth -= 1
    return Apply("not", (inner,))


def read_parentheses(cursor: Cursor) -> Expr:
    """Read ``( ... )``."""
    cursor.expect("(")
    cursor.deeper()
    inner = read_expr(cursor)
    cursor.depth -= 1
    cursor.expect(")")
    return inner


def _operand(cursor: Cursor) -> Expr:
    token = cursor.token
    if token.kind == "number":
        return cursor.number(cursor.take())
    if token.kind == "word":
        return _word(cursor, token.text)
    if cursor.at("("):
        return read_parentheses(cursor)
    raise cursor.wanted("a number, a symbol or an expression")


def _word(cursor: Cursor, text: str) -> Expr:
    if text in CONSTANTS:
        cursor.take()
        return CONSTANTS[text]
    if text in CALLS:
        return read_call(cursor)
    if text == "not":
        return read_negation(cursor)
    if text == "sym" or SYMBOL.fullmatch(text):
        return read_symbol(cursor)
    raise cursor.wanted("a symbol such as s0 or a function")


def _apply(cursor: Cursor, operator: str, left: Expr) -> Expr:
    level = PRECEDENCE.get(operator, PRECEDENCE["+"])
    if operator == "in":
        return _range(cursor, left)
    if operator == "-" or operator in VARIADIC:
        return _variadic(cursor, "+" if operator == "-" else operator, left, level)
    cursor.take()
    return Apply(operator, (left, read_expr(cursor, level + 1)))


def _variadic(cursor: Cursor, operator: str, left: Expr, level: int) -> Apply:
    args = [left]
    while True:
        if operator == "+" and cursor.accept("-"):
            args.append(_negative(cursor))
        elif cursor.accept(operator):
            args.append(read_expr(cursor, level + 1))
        else:
            return Apply(operator, tuple(args))


def _negative(cursor: Cursor) -> int:
    """Read the 1 of ``s0 - 1``, which is the sum of s0 and -1; there is no other subtraction."""
    start = cursor.token.start
    value = cursor.integer("an integer behind the minus sign")
    if value <= 0:
        raise cursor.error(f'wanted a positive integer behind the minus sign, got "{value}"', start)
    return -value


def _range(cursor: Cursor, left: Expr) -> Apply:
    cursor.expect("in")
    cursor.expect("[")
    low = read_expr(cursor)
    cursor.expect(",")
    high = read_expr(cursor)
    cursor.expect("]")
    return Apply("in", (left, low, high))

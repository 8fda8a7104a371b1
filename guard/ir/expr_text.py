"""Text and canonical order of symbolic expressions. Knows no graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guard.ir.expr import COMPARISONS, Apply, Symbol
from guard.ir.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard.ir.expr import Expr

# Infix operators bind tighter from left to right; anything else is a call.
PRECEDENCE = {
    "or": 1,
    "and": 2,
    "not": 3,
    "in": 4,
    "+": 5,
    "**": 7,
    **dict.fromkeys(COMPARISONS, 4),
    **dict.fromkeys(("*", "//", "/", "%"), 6),
}
VARIADIC = ("or", "and", "+", "*")
COMMUTATIVE = frozenset(("or", "and", "+", "*", "max", "min", "==", "!="))
_CALL = 8
_BARE = re.compile(r"[fsu][0-9]+")


def print_expr(expr: Expr) -> str:
    """Print in canonical order: ``s0*2 + 1``. Equal up to the order of commutative arguments prints equal."""
    return _print(ordered(expr))


def ordered(expr: Expr) -> Expr:
    """Put the arguments of commutative functions in order: by text, numbers last.

    What is printed and read back is what this returns.
    """
    if type(expr) is not Apply:
        return expr
    args = tuple(ordered(arg) for arg in expr.args)
    if expr.function in COMMUTATIVE:
        args = tuple(sorted(args, key=_place))
    # identity, for == does not tell 1 from 1.0 and True
    unchanged = all(new is old for new, old in zip(args, expr.args, strict=True))
    return expr if unchanged else Apply(expr.function, args)


def rename(expr: Expr, names: Mapping[str, str]) -> Expr:
    """Replace every symbol's name, then put the result in order."""
    return ordered(_rename(expr, names))


def symbols(expr: Expr) -> Iterator[str]:
    """Yield the names of symbols in the order of the text, repeats too."""
    if type(expr) is Symbol:
        yield expr.name
    elif type(expr) is Apply:
        for arg in expr.args:
            yield from symbols(arg)


def _rename(expr: Expr, names: Mapping[str, str]) -> Expr:
    if type(expr) is Symbol:
        return Symbol(names[expr.name])
    if type(expr) is Apply:
        return Apply(expr.function, tuple(_rename(arg, names) for arg in expr.args))
    return expr


def _place(expr: Expr) -> tuple[bool, str]:
    return type(expr) not in (Symbol, Apply), _print(expr)


def _print(expr: Expr) -> str:
    if type(expr) is Symbol:
        return expr.name if _BARE.fullmatch(expr.name) else f"sym({quote(expr.name)})"
    if type(expr) is not Apply:
        return repr(expr)
    if expr.function in PRECEDENCE:
        return _infix(expr)
    return f"{expr.function}({', '.join(map(_print, expr.args))})"


def _infix(expr: Apply) -> str:
    function, args = expr
    level = PRECEDENCE[function]
    if function == "in":
        return f"{_operand(args[0], level)} in [{_print(args[1])}, {_print(args[2])}]"
    if function == "not":
        return f"not {_operand(args[0], level)}"
    texts = [_operand(arg, level) for arg in args]
    if function == "+":
        return texts[0] + "".join(map(_term, texts[1:], args[1:]))
    return ("*" if function == "*" else f" {function} ").join(texts)


def _operand(expr: Expr, level: int) -> str:
    inner = PRECEDENCE.get(expr.function, _CALL) if type(expr) is Apply else _CALL
    return _print(expr) if inner > level else f"({_print(expr)})"


def _term(text: str, arg: Expr) -> str:
    """Print a negative integer of a sum as torch does: ``s0 - 1``."""
    return f" - {text[1:]}" if type(arg) is int and arg < 0 else f" + {text}"

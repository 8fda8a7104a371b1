"""Expressions over symbols -> numbers or SymInts, by a table of the closed set's functions."""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.expr import Apply, Symbol
from guard.ir.rebuild.refusal import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from guard.ir.expr import Expr

_LARGEST = 2**62
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt,
    "//": operator.floordiv, "/": operator.truediv, "%": operator.mod, "abs": abs, "float": torch.sym_float,
    "+": lambda *terms: reduce(operator.add, terms), "*": lambda *terms: reduce(operator.mul, terms),
    "max": lambda *terms: reduce(torch.sym_max, terms), "min": lambda *terms: reduce(torch.sym_min, terms),
    "ceil": math.ceil, "floor": math.floor, "trunc": math.trunc, "round": round,
    "sqrt": torch._sym_sqrt, "exp": math.exp, "log": math.log, "sin": math.sin, "cos": math.cos, "tanh": math.tanh,
    "or": lambda *terms: any(terms), "and": lambda *terms: all(terms), "not": torch.sym_not, "where": torch.sym_ite,
    "bitand": operator.and_, "bitor": operator.or_, "bitxor": operator.xor,
    "rshift": operator.rshift, "in": lambda value, low, high: low <= value <= high,
}  # fmt: skip


def value_of(expr: Expr, symbols: Mapping[str, Any]) -> Any:
    """Compute an expression.

    Args:
        expr: data of the closed set.
        symbols: value of each symbol by name: an int, or a SymInt of one ShapeEnv.

    Raises:
        RefusedError: a symbol without a value, or a number that no size has.
    """
    if type(expr) is Symbol:
        if expr.name not in symbols:
            raise RefusedError(f'symbol "{expr.name}" is no size of an input')
        return symbols[expr.name]
    if type(expr) is not Apply:
        return expr
    return _apply(expr.function, tuple(value_of(arg, symbols) for arg in expr.args))


def _apply(function: str, args: tuple[Any, ...]) -> Any:
    if function in {"**", "lshift"}:
        return _grow(function, *args)
    known = _FUNCTIONS.get(function)
    if known is None:
        raise RefusedError(f'"{function}" of sizes is not computed here')
    try:
        return known(*args)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise RefusedError(f'"{function}" of sizes: {error}') from error


def _grow(function: str, base: Any, by: Any) -> Any:
    """Powers and shifts, whose result a hostile file could make as large as memory."""
    if type(by) is int and abs(by) >= _LARGEST.bit_length():
        raise RefusedError(f'"{function}" of sizes: the exponent is too large')
    return base**by if function == "**" else base << by

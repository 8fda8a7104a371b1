"""Symbolic integers as data: a closed set of functions over symbols and numbers. Knows no sympy."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

# infix ones by precedence (low to high), then calls; the classes are in torch/utils/_sympy/functions.py
COMPARISONS = ("==", "!=", "<=", "<", ">=", ">")
FUNCTIONS = (
    "or", "and", "not", *COMPARISONS, "+", "*", "//", "/", "%", "**",
    "max", "min", "ceil", "floor", "trunc", "round", "float", "abs", "where",
    "sqrt", "exp", "log", "sin", "cos", "tanh",
    "lshift", "rshift", "bitand", "bitor", "bitxor", "in",
)  # fmt: skip


class Symbol(NamedTuple):
    """``s0`` (backed) or ``u0`` (unbacked)."""

    name: str


class Apply(NamedTuple):
    """A function of FUNCTIONS over its arguments; ``in`` is a range: ``s0 in [2, 64]`` has arguments (s0, 2, 64)."""

    function: str
    args: tuple[Expr, ...]


Expr: TypeAlias = "Symbol | Apply | int | float | bool"

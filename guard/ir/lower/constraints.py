"""What a symbolic graph assumes of its symbols: ranges and guards, as the lines after ``where``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import sympy
from torch.utils._sympy.value_ranges import bound_sympy

from guard.ir.expr import Apply, Expr
from guard.ir.expr_text import print_expr
from guard.ir.lower.symbols import UnknownExpressionError

if TYPE_CHECKING:
    from guard.ir.lower.symbols import Symbols

# Sizes 0 and 1 are specialized (torch/fx/experimental/symbolic_shapes.py, specialize_zero_one): >= 2 says nothing.
_SAYS_NOTHING = {(-math.inf, math.inf), (0, math.inf), (2, math.inf)}


def constraints(symbols: Symbols, env: Any) -> tuple[Expr, ...]:
    """Ranges in the order of the symbols, then guards in the order of their text: torch's order is that of tracing."""
    if env is None:
        return ()
    ranges = [bound for raw in symbols.used() for bound in _range(symbols, env, raw)]
    guards = {print_expr(guard): guard for guard in _guards(symbols, env)}
    return (*ranges, *(guards[text] for text in sorted(guards)))


def _range(symbols: Symbols, env: Any, raw: Any) -> list[Expr]:
    known = getattr(env, "var_to_range", {}).get(raw)
    if known is None:
        return []
    low, high = symbols.expr(known.lower), symbols.expr(known.upper)
    if not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
        return []
    low, high = _bound(low), _bound(high)
    if (low, high) in _SAYS_NOTHING:
        return []
    symbol = symbols.expr(raw)
    if high == math.inf:
        return [Apply(">=", (symbol, low))]
    return [Apply("<=", (symbol, high))] if low in {-math.inf, 0, 2} else [Apply("in", (symbol, low, high))]


def _bound(value: float) -> float:
    # torch bounds an unbounded int by sys.maxsize - 1 in places: no statement about the program either
    return math.copysign(math.inf, value) if abs(value) >= 2**62 else value


def _guards(symbols: Symbols, env: Any) -> list[Expr]:
    used = set(symbols.used())
    found = []
    for guard in getattr(env, "guards", ()):
        expr = env.replace(guard.expr)
        if not expr.free_symbols or not expr.free_symbols <= used or _known(env, expr):
            continue
        try:
            found.append(symbols.expr(expr))
        except UnknownExpressionError:
            continue
    return found


def _known(env: Any, expr: Any) -> bool:
    """Whether the ranges alone already say so. ShapeEnv's own evaluation would count the guard itself as known."""
    try:
        bounds = bound_sympy(expr, env.var_to_range)
        return bool(bounds.is_singleton() and bounds.lower == sympy.true)
    except Exception:  # noqa: BLE001 - a private helper of torch: without it the guard is printed, which is safe
        return False

"""sympy expressions -> guard.ir.expr, with symbols numbered by first use (torch's ``s75`` is a hash of the source)."""

from __future__ import annotations

import math
from typing import Any

import sympy

from guard.ir.expr import Apply, Expr, Symbol
from guard.ir.expr_text import ordered

# class name -> function of guard.ir.expr; the names are sympy's and torch/utils/_sympy/functions.py's
_FUNCTIONS = {
    "Add": "+", "Mul": "*", "Pow": "**", "PowByNatural": "**", "FloatPow": "**",
    "FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%",
    "IntTrueDiv": "/", "FloatTrueDiv": "/", "Max": "max", "Min": "min",
    "Equality": "==", "Eq": "==", "Unequality": "!=", "Ne": "!=",
    "LessThan": "<=", "StrictLessThan": "<", "GreaterThan": ">=", "StrictGreaterThan": ">",
    "And": "and", "Or": "or", "Not": "not", "Where": "where",
    "CeilToInt": "ceil", "ceiling": "ceil", "FloorToInt": "floor", "floor": "floor", "TruncToInt": "trunc",
    "TruncToFloat": "trunc", "RoundToInt": "round", "ToFloat": "float", "Abs": "abs",
    "LShift": "lshift", "RShift": "rshift", "BitwiseFn_bitwise_and": "bitand", "BitwiseFn_bitwise_or": "bitor",
    "BitwiseFn_bitwise_xor": "bitxor", "OpaqueUnaryFn_sqrt": "sqrt", "OpaqueUnaryFn_exp": "exp",
    "OpaqueUnaryFn_log": "log", "OpaqueUnaryFn_sin": "sin", "OpaqueUnaryFn_cos": "cos", "OpaqueUnaryFn_tanh": "tanh",
}  # fmt: skip


class UnknownExpressionError(Exception):
    """A function outside the closed set: the value prints ``?``."""


class Symbols:
    """The symbols of one graph file's graph, named in the order in which they are met."""

    def __init__(self, shape_env: Any = None) -> None:
        self._env = shape_env
        self._names: dict[Any, Symbol] = {}
        self._counts: dict[str, int] = {}
        self._exprs: dict[Any, Expr] = {}

    def dim(self, value: Any) -> Expr:
        """Size, stride or Sym value as a number or an expression.

        Reads the raw expression, because ``node.expr`` asks the ShapeEnv for replacements anew at each call.
        """
        if type(value) is int:
            return value
        node = getattr(value, "node", None)
        if node is None:
            return int(value)
        if not hasattr(node, "shape_env"):
            number = node.maybe_as_int()  # of a constant SymInt; a ragged dimension of a nested tensor has none
            if number is None:
                raise UnknownExpressionError("a nested int")
            return int(number)
        return self.expr(node._expr if hasattr(node, "_expr") else node.expr, node.shape_env)

    def expr(self, raw: Any, env: Any = None) -> Expr:
        """Substitute torch's replacements, then convert."""
        known = self._exprs.get(raw)
        if known is None:
            env = env if env is not None else self._env
            expr = env.replace(raw) if env is not None else raw
            self._meet(expr, env)
            known = ordered(self._convert(expr))
            self._exprs[raw] = known
        return known

    def used(self) -> tuple[Any, ...]:
        """Torch's symbols that were met, in order."""
        return tuple(self._names)

    def _meet(self, expr: Any, env: Any) -> None:
        """Name the new symbols of one expression by their creation: sympy orders the terms of a sum by torch's hash."""
        new = [symbol for symbol in expr.free_symbols if symbol not in self._names]
        if len(new) > 1:
            created = {symbol: place for place, symbol in enumerate(getattr(env, "var_to_range", ()))}
            new.sort(key=lambda symbol: created.get(symbol, len(created)))
        for symbol in new:
            self._symbol(symbol)

    def _convert(self, expr: Any) -> Expr:
        if isinstance(expr, sympy.Symbol):
            return self._symbol(expr)
        if expr.is_Boolean and expr in (sympy.true, sympy.false):
            return bool(expr)
        if expr.is_Number:
            return _number(expr)
        function = _FUNCTIONS.get(type(expr).__name__)
        if type(expr).__name__ == "Identity":
            return self._convert(expr.args[0])
        if function is None:
            raise UnknownExpressionError(type(expr).__name__)
        return Apply(function, tuple(self._convert(a) for a in expr.args))

    def _symbol(self, symbol: Any) -> Symbol:
        known = self._names.get(symbol)
        if known is None:
            # torch/utils/_sympy/symbol.py: u and zuf are unbacked, zf are backed floats
            prefix = "u" if symbol.name.startswith(("u", "zuf")) else "f" if symbol.name.startswith("zf") else "s"
            number = self._counts.get(prefix, 0)
            self._counts[prefix] = number + 1
            known = self._names[symbol] = Symbol(f"{prefix}{number}")
        return known


def _number(expr: Any) -> Expr:
    if expr.is_Integer:
        return int(expr)
    name = type(expr).__name__
    if name in {"IntInfinity", "Infinity"}:
        return math.inf
    if name in {"NegativeIntInfinity", "NegativeInfinity"}:
        return -math.inf
    if expr.is_Rational:
        return Apply("/", (int(expr.p), int(expr.q)))
    return float(expr)

"""Amounts of bytes and operations: numbers, or polynomials over symbolic sizes. Pure; knows no graph."""

from __future__ import annotations

from functools import lru_cache, reduce
from math import prod
from operator import add, floordiv, mod, mul
from typing import TYPE_CHECKING, TypeAlias

from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import ordered, print_expr, symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from guard.ir.expr import Expr

# A product of atoms: symbols, and functions that are no sums or products
Monomial: TypeAlias = "tuple[Symbol | Apply, ...]"
MOST_CANDIDATES = 8
MOST_WEIGHT = 400
"""Symbols, numbers and functions in a maximum."""
MOST_TERMS = 256
"""Of a product: thirty sums of two, multiplied out, would have a thousand million."""
_MOST_POWER = 8


class TooLargeError(ArithmeticError):
    """A product with more than MOST_TERMS terms: no program has such sizes, a file that somebody wrote may."""


class Poly:
    """A sum of products of sizes. It does the arithmetic of int that formulas of FLOPs need, and raises on the rest."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {monomial: factor for monomial, factor in terms.items() if factor}

    def __add__(self, other: Amount) -> Amount:
        return _sum(self.terms, _terms(other))

    def __mul__(self, other: Amount) -> Amount:
        if len(self.terms) * len(_terms(other)) > MOST_TERMS:
            raise TooLargeError
        found: dict[Monomial, int] = {}
        for one, factor in self.terms.items():
            for another, times in _terms(other).items():
                monomial = _monomial(one + another)
                found[monomial] = found.get(monomial, 0) + factor * times
        return _reduced(found)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Amount:
        return self * -1

    def __sub__(self, other: Amount) -> Amount:
        return self + -other

    def __rsub__(self, other: int) -> Amount:
        return -self + other

    def __mod__(self, other: Amount) -> int:
        if self == other:
            return 0
        raise TypeError("no remainder of symbolic sizes")

    def __lt__(self, other: Amount) -> bool:
        found = sign(self - other)
        if found is None:
            raise TypeError("symbolic sizes have no order")
        return found < 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        return text(self)


Amount: TypeAlias = "int | Poly"


def amount(expr: Expr) -> Amount:
    """Return a dimension as an amount."""
    if type(expr) is Apply:
        return _applied(expr)
    if type(expr) is Symbol:
        return Poly({(expr,): 1})
    return int(expr)  # type: ignore[arg-type]  # a number: int() takes what is left of Expr


def _applied(expr: Apply) -> Amount:
    function, args = expr
    if function in ("+", "*"):
        return reduce(add if function == "+" else mul, map(amount, args))
    if function == "**" and type(args[1]) is int and 0 < args[1] <= _MOST_POWER:
        return prod([amount(args[0])] * args[1])
    atom = ordered(expr)
    return Poly({(atom,): 1}) if type(atom) is Apply else amount(atom)


def sign(value: Amount) -> int | None:
    """Return -1, 0 or 1; None where it depends on the sizes. Sizes are not negative."""
    if isinstance(value, int):
        return (value > 0) - (value < 0)
    factors = value.terms.values()
    if all(factor > 0 for factor in factors):
        return 1
    return -1 if all(factor < 0 for factor in factors) else None


# Sizes that are tried where terms with both signs leave it open: all symbols alike, and each pair in both orders
_TRIED = ((2, 2), (3, 3), (7, 7), (64, 64), (4096, 4096), (2, 512), (512, 2), (64, 1024), (1024, 64))


def trend(value: Amount) -> int | None:
    """Return sign's answer, or the one at sizes from 2 to 4096 where they agree; None where they do not."""
    known = sign(value)
    if known is not None or isinstance(value, int):
        return known
    names = dict.fromkeys(symbols(expression(value)))
    found = set()
    for pair in _TRIED:
        tried = evaluate(value, {name: pair[place % 2] for place, name in enumerate(names)})
        found.add(sign(tried) if isinstance(tried, int) else None)
    found.discard(0)
    return found.pop() if len(found) == 1 else None


def expression(value: Amount) -> Expr:
    """Return an amount as an expression in canonical order."""
    if isinstance(value, int):
        return value
    terms = [_product(monomial, factor) for monomial, factor in value.terms.items()]
    return ordered(terms[0] if len(terms) == 1 else Apply("+", tuple(terms)))


def text(value: Amount) -> str:
    """Print ``4096`` or ``4*s0*s1 + 16``."""
    return str(value) if isinstance(value, int) else print_expr(expression(value))


def evaluate(value: Amount, sizes: Mapping[str, int]) -> Amount:
    """Put numbers in the place of symbols; an amount with a symbol that has none is left as it is."""
    found = value if isinstance(value, int) else _number(expression(value), sizes)
    return value if found is None else found


class Largest:
    """The largest of many amounts: those that no other is at least as large as, whatever the sizes."""

    def __init__(self) -> None:
        self._found: list[Amount] = [0]

    def add(self, value: Amount) -> None:
        """Enter one."""
        found = self._found
        if len(found) == 1 and isinstance(value, int) and isinstance(found[0], int):
            found[0] = max(value, found[0])
            return
        if any(sign(other - value) in (0, 1) for other in found):
            return
        kept = [other for other in found if sign(value - other) != 1]
        self._found = [*kept, value] if len(kept) < MOST_CANDIDATES else [_bound([*kept, value])]

    def amount(self) -> Amount:
        """Return it: a maximum where several may be the largest, a bound above them where these are very many."""
        if len(self._found) == 1:
            return self._found[0]
        args = tuple(map(expression, self._found))
        # bodies in bodies in bodies: each maximum would hold several copies of the one within
        return _bound(self._found) if sum(map(_weight, args)) > MOST_WEIGHT else Poly({(Apply("max", args),): 1})


def largest(*values: Amount) -> Amount:
    """Return the largest of some."""
    most = Largest()
    for value in values:
        most.add(value)
    return most.amount()


def _weight(expr: Expr) -> int:
    return 1 + sum(map(_weight, expr.args)) if type(expr) is Apply else 1


def _bound(values: list[Amount]) -> Amount:
    """Return what is at least as large as each, term by term."""
    found: dict[Monomial, int] = {}
    for value in values:
        for monomial, factor in _terms(value).items():
            found[monomial] = max(found.get(monomial, 0), factor)
    return _reduced(found)


def _terms(value: Amount) -> Mapping[Monomial, int]:
    return value.terms if isinstance(value, Poly) else {(): value}


def _sum(one: Mapping[Monomial, int], other: Mapping[Monomial, int]) -> Amount:
    found = dict(one)
    for monomial, factor in other.items():
        found[monomial] = found.get(monomial, 0) + factor
    return _reduced(found)


def _reduced(terms: Mapping[Monomial, int]) -> Amount:
    found = Poly(terms)
    return found.terms.get((), 0) if found.terms.keys() <= {()} else found


@lru_cache(maxsize=4096)
def _monomial(atoms: Monomial) -> Monomial:
    return tuple(sorted(atoms, key=print_expr))


def _product(monomial: Monomial, factor: int) -> Expr:
    factors: tuple[Expr, ...] = monomial if factor == 1 and monomial else (*monomial, factor)
    return factors[0] if len(factors) == 1 else Apply("*", factors)


# What sizes are made of; an expression with any other function stays symbolic
_FUNCTIONS: dict[str, Callable[[Iterable[int]], int]] = {
    "+": sum,
    "*": prod,
    "max": max,
    "min": min,
    "//": lambda args: floordiv(*args),
    "%": lambda args: mod(*args),
    "**": lambda args: int(pow(*args)),
}


def _number(expr: Expr, sizes: Mapping[str, int]) -> int | None:
    if type(expr) is Symbol:
        return sizes.get(expr.name)
    if type(expr) is not Apply:
        return int(expr)  # type: ignore[arg-type]  # as in amount
    args = [_number(arg, sizes) for arg in expr.args]
    function = _FUNCTIONS.get(expr.function)
    numbers = [arg for arg in args if arg is not None]
    if function is None or len(numbers) < len(args):
        return None
    try:
        return function(numbers)
    except ZeroDivisionError:
        return None

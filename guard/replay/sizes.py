"""Sizes for the symbols of a graph, such that its constraints hold."""

from __future__ import annotations

from itertools import islice, permutations, product
from typing import TYPE_CHECKING

from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import symbols as symbols_in
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.metadata import HINT, symbols_of
from guard.ir.rebuild.refusal import RefusedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from guard.ir.expr import Expr
    from guard.ir.graph import Graph

_OTHERS = (16, 64, 12, 10, 7, 3, 2, 4, 5, 6, 128, 1024)
_SMALL = (5, 7, 6, 8, 9, 10, 11, 12, 13, 4, 3, 2, 14, 15, 16, 20, 24, 32, 48, 64)
_TRIES = 20_000


def sizes_of(graph: Graph, where: tuple[Expr, ...]) -> dict[str, int]:
    """Choose a size for each backed symbol: distinct ones where the constraints allow it.

    Args:
        graph: its symbols are those of its types.
        where: constraints; those that speak of other symbols are left out.

    Raises:
        RefusedError: none of the sizes that are tried satisfies them.
    """
    names = [name for name in dict.fromkeys(symbols_of(graph)) if name.startswith("s")]
    constraints = [c for c in where if all(name in names for name in symbols_in(c))]
    bounds = [number for c in constraints for number in _numbers(c)]
    choices = [(HINT + 16 * place, *_OTHERS, *bounds) for place in range(len(names))]
    for chosen in islice(product(*choices), _TRIES):
        sizes = dict(zip(names, chosen, strict=True))
        if all(_holds(constraint, sizes) for constraint in constraints):
            return sizes
    raise RefusedError("no sizes were found that satisfy the constraints of the graph")


def sizes_among(
    names: Sequence[str], where: tuple[Expr, ...], fixed: Mapping[str, int], avoid: Collection[int]
) -> dict[str, int]:
    """Choose a size for each of ``names``: no two alike, none that is 0, 1, fixed or to be avoided.

    Args:
        names: symbols.
        where: constraints; those that speak of other symbols are left out.
        fixed: sizes of symbols that keep theirs; they are part of the answer.
        avoid: sizes of an example.

    Raises:
        RefusedError: none of the sizes that are tried satisfies the constraints.
    """
    constraints = [c for c in where if all(name in names or name in fixed for name in symbols_in(c))]
    bounds = [number for c in constraints for number in _numbers(c)]
    barred = {0, 1, *avoid, *fixed.values()}
    choices = [size for size in dict.fromkeys((*_SMALL, *bounds)) if size not in barred]
    for chosen in islice(permutations(choices, len(names)), _TRIES):
        sizes = {**fixed, **dict(zip(names, chosen, strict=True))}
        if all(_holds(constraint, sizes) for constraint in constraints):
            return sizes
    raise RefusedError("no second sizes were found that satisfy the constraints of the graph")


def _holds(constraint: Expr, sizes: Mapping[str, int]) -> bool:
    try:
        return bool(value_of(constraint, sizes))
    except RefusedError:
        return False


def _numbers(expr: Expr) -> list[int]:
    """Integers of a constraint, and their neighbours: bounds are met there."""
    if type(expr) is Apply:
        return [number for arg in expr.args for number in _numbers(arg)]
    small = type(expr) is int and 0 < expr < 2**16
    return [expr, expr + 1, expr * 2] if small and not isinstance(expr, Symbol) else []  # type: ignore[operator, list-item]  # an int

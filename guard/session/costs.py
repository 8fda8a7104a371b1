"""Costs of two programs beside each other: with torch's formulas where they can make a difference. Runs no program."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from guard.cost.compare import difference, lines
from guard.cost.graph import program_cost
from guard.cost.operators import rule
from guard.ir.graph import Ref

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from guard.cost.amount import Amount
    from guard.cost.compare import Difference
    from guard.cost.node import Formulas
    from guard.drift.change import Change
    from guard.ir.graph import Node, Program
    from guard.ir.types import Type


def cost_lines(baseline: Program, current: Program, changes: Sequence[Change]) -> tuple[str, ...]:
    """Say what current costs more or less, and where."""
    return lines(
        compare_costs(baseline, current, frozenset[tuple[str, int]]().union(*(change.nodes for change in changes)))
    )


def compare_costs(baseline: Program, current: Program, changed: Collection[tuple[str, int]] = ()) -> Difference:
    """Compare the costs of two programs; torch is loaded only where their products differ.

    Args:
        baseline: reviewed.
        current: what a run captured.
        changed: current's nodes that are known to differ, by graph and position.
    """
    if "torch" not in sys.modules and _products(baseline) == _products(current):
        return difference(program_cost(baseline), program_cost(current), changed)
    formulas = torch_formulas()
    found = difference(program_cost(baseline, formulas), program_cost(current, formulas), changed)
    return found if formulas is not None else found._replace(no_flops=True)


def formulas_for(program: Program) -> Formulas | None:
    """Return what FLOPs the calls of one program have; None where torch's formulas are needed and not to be had."""
    if "torch" not in sys.modules and not _products(program):
        return _none
    return torch_formulas()


def torch_formulas() -> Formulas | None:
    """Return torch's formulas; None without torch, or where this torch has none that guard can ask."""
    try:
        from guard.cost.flops import formulas
    except ImportError:
        return None
    return formulas()


def _none(_node: Node, _types: object) -> Amount | None:
    return None


def _products(program: Program) -> Counter[Hashable]:
    """Count calls that have FLOPs by their names, by all that formulas read."""
    found: Counter[Hashable] = Counter()
    for graph in (*program.graphs, *program.bodies):
        types: dict[str, Type] = {value.name: value.type for value in graph.inputs}
        for node in graph.nodes:
            types.update((name, type_) for name, type_ in node.results if name is not None)
            if rule(node.target).matmul:
                found[node.target, tuple(_words(node, types))] += 1
    return found


def _words(node: Node, types: dict[str, Type]) -> Iterator[Hashable]:
    for arg in (*node.args, *node.kwargs):
        yield types.get(arg.name) if isinstance(arg, Ref) else repr(arg)
    yield tuple(result.type for result in node.results)

"""Two graph files, read and compared whole: what ``diff`` shows. Folds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.drift.classify import changes
from guard.findings import Finding
from guard.ir.printer import print_program
from guard.session.costs import compare_costs
from guard.session.judge import judge

if TYPE_CHECKING:
    from guard.cost.compare import Difference
    from guard.drift.change import Change
    from guard.ir.graph import Program


def compare(baseline: Program, current: Program) -> tuple[Finding, ...]:
    """Return what differs, a finding a cause: nothing where the two are equal."""
    if baseline.error is None and current.error is None:
        return tuple(_finding(change, current.check) for change in changes(baseline, current))
    found = judge(current, print_program(current), print_program(baseline).encode(), "baseline")
    return tuple(Finding(one.kind, one.check, one.title, one.lines) for one in found)


def compare_with_cost(baseline: Program, current: Program) -> tuple[tuple[Finding, ...], Difference | None]:
    """Return what differs, and what the second costs more or less; no cost where they are equal, or one is an error."""
    if baseline.error is not None or current.error is not None:
        return compare(baseline, current), None
    found = changes(baseline, current)
    if not found:
        return (), None
    changed = frozenset[tuple[str, int]]().union(*(change.nodes for change in found))
    return tuple(_finding(change, current.check) for change in found), compare_costs(baseline, current, changed)


def _finding(change: Change, check: str) -> Finding:
    lines = change.lines if change.known is None else (*change.lines, change.known)
    return Finding("drift", check, f"{change.kind}, {change.title}", lines, drift=change.kind)

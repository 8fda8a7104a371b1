"""Name what moved between two programs: one change a cause. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.drift.change import Change
from guard.drift.textdiff import diff
from guard.ir.canonical import equal

if TYPE_CHECKING:
    from guard.ir.graph import Program


def changes(baseline: Program, current: Program) -> tuple[Change, ...]:
    """Return what moved, by class; nothing where the two are equal, and only there."""
    if equal(baseline, current):
        return ()
    found = diff(baseline, current)
    return (Change("structure", found.title, found.lines, source=_first_source(baseline, current)),)


def _first_source(baseline: Program, current: Program) -> str | None:
    known = {node[:4] for graph in baseline.graphs for node in graph.nodes}
    nodes = (node for graph in current.graphs for node in graph.nodes)
    return next((node.source for node in nodes if node.source and node[:4] not in known), None)

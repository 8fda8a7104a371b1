"""Alarms beside the graphs that they are about, as text or as plain data. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.alarms.alarm import told
from guard.ir.printer import print_graph, print_node, print_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.alarms.alarm import Alarm, Unseen
    from guard.ir.graph import Graph, Program

WIDTH = 100
"""Columns of a graph beyond which its margin moves right for one line."""


def in_margin(program: Program, found: Sequence[Alarm]) -> str:
    """Print graphs, each node on one line with its alarms behind ``#``; those of inputs stand below the signature."""
    header = print_program(replace(program, graphs=(), bodies=())).splitlines()[: 3 + len(program.events)]
    blocks = ["\n".join(header)]
    for graphs, opening in ((program.graphs, "graph"), (program.bodies, "body")):
        for graph in graphs:
            own = [alarm for alarm in found if alarm.graph == graph.name]
            blocks.append("\n".join(_graph(graph, own, opening)) if own else print_graph(graph, opening))
    return "\n\n".join(blocks) + "\n"


def as_list(found: Sequence[Alarm], missing: Sequence[Unseen]) -> str:
    """Print alarms a line each, then what the capture cannot show."""
    lines = [f"alarm, {told(alarm)}" for alarm in found] or ["no alarms"]
    lines += [f"n/a, {unseen.kind}: {unseen.why}" for unseen in missing]
    return "\n".join(lines) + "\n"


def as_record(found: Sequence[Alarm], missing: Sequence[Unseen]) -> dict[str, Any]:
    """Return alarms as plain data."""
    return {
        "alarms": [alarm._asdict() for alarm in found],
        "not_seen": [unseen._asdict() for unseen in missing],
    }


def _graph(graph: Graph, found: Sequence[Alarm], opening: str) -> Iterator[str]:
    frame = print_graph(replace(graph, nodes=()), opening).splitlines()
    end = max(place for place, line in enumerate(frame) if line.startswith("  return"))
    yield from frame[:end]
    yield from (f"  # {alarm.kind}: {alarm.subject}: {alarm.why}" for alarm in found if alarm.node is None)
    margins: dict[int, list[str]] = {}
    for alarm in found:
        if alarm.node is not None:
            margins.setdefault(alarm.node, []).append(f"{alarm.kind}: {alarm.why}")
    rows = [f"  {print_node(node)}" for node in graph.nodes]
    column = min(max((len(rows[node]) for node in margins), default=0), WIDTH)
    for position, row in enumerate(rows):
        yield f"{row:<{column}}  # {'; '.join(margins[position])}" if position in margins else row
    yield from frame[end:]

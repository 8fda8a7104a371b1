"""What further captures of one program say of the first: another graph means that a baseline of it is worth little."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from guard.alarms.alarm import Alarm
from guard.alarms.effects import chained
from guard.alarms.reading import DETACH, MOVES, Reading
from guard.ir.canonical import canonical, equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.ir.graph import Graph, Program

_SHOWN = 4


def unstable(first: Program, others: Sequence[tuple[str, Program]]) -> tuple[Alarm, ...]:
    """Return an alarm for each further capture that is another graph.

    Args:
        first: the check's own capture.
        others: what was different (``traced with cold caches``), and what was captured.
    """
    return tuple(
        Alarm("unstable", "", "", f"{how}, it is another graph: {difference(first, other)}")
        for how, other in others
        if not equal(first, other)
    )


def retrace(first: Program, second: Program) -> tuple[Alarm, ...]:
    """Return an alarm where tracing the captured graph gives other operators, more or fewer.

    Their arguments do not count: an argument that equals its default is dropped on the way, and a symbol may come to be
    known by another input. Nor do copies that nothing uses, and detaches, which autograd adds to any trace of what
    requires grad; but where the graph holds a gradient, they are what grows with each trace.
    """
    if second.error is not None:
        return (Alarm("retrace", "", "", f"tracing the captured graph fails: {second.error.line}"),)
    detaches = any(map(_has_gradient, first.graphs))
    was, now = _bare(first, detaches=detaches), _bare(second, detaches=detaches)
    if _targets(was) == _targets(now):
        return ()
    return (Alarm("retrace", "", "", f"tracing the captured graph gives another: {difference(was, now)}"),)


def fingerprint(program: Program) -> str:
    """Return a digest that equal captures have in common."""
    error = program.error
    form = (
        program.tracer,
        [event[:3] for event in program.events],
        error and (error.kind, error.fingerprint),
        [(graph.name, canonical(graph, program.bodies)) for graph in program.graphs],
    )
    return hashlib.sha256(repr(form).encode()).hexdigest()[:32]


def difference(first: Program, second: Program) -> str:
    """Say in a few words how two programs differ: ``+3 aten.detach.default``."""
    for one, other in ((first, second), (second, first)):
        if one.error is not None and other.error is None:
            return f"{'it failed before' if one is first else 'it fails'}, {one.error.kind}"
    was, now = _targets(first), _targets(second)
    moved = [f"{now[name] - was[name]:+d} {name}" for name in sorted({*was, *now}) if now[name] != was[name]]
    if not moved:
        return "the same operators, with other arguments or types"
    return ", ".join(moved[:_SHOWN]) + (f" and {len(moved) - _SHOWN} more" if len(moved) > _SHOWN else "")


def _targets(program: Program) -> Counter[str]:
    return Counter(node.target for graph in (*program.graphs, *program.bodies) for node in graph.nodes)


def _bare(program: Program, *, detaches: bool) -> Program:
    return replace(program, graphs=tuple(_computation(graph, detaches=detaches) for graph in program.graphs))


def _computation(graph: Graph, *, detaches: bool) -> Graph:
    dropped = MOVES - {DETACH} if detaches else MOVES
    dead = {position for position in Reading(graph).dead if graph.nodes[position].target in dropped}
    return replace(graph, nodes=tuple(node for position, node in enumerate(graph.nodes) if position not in dead))


def _has_gradient(graph: Graph) -> bool:
    """Tell whether a graph holds what autograd unpacked: its detaches are part of the computation."""
    return bool(chained(Reading(graph)))

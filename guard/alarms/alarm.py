"""One sign of wrongness in one graph: data, and what each kind means. Knows no graph."""

from __future__ import annotations

from typing import NamedTuple

# Kind -> what it is a sign of; docs/alarms.md has a section for each.
KINDS = {
    "unused-input": "nothing that the graph returns or writes depends on it",
    "baked-input": "a constant has the type of an input that nothing uses",
    "fake-constant": "a constant without bytes: it was computed while tracing, or came from a fake tensor",
    "dead-node": "nothing uses its results, and it has no effect",
    "global-shape": "it has the shape of a whole DTensor, where a rank holds a shard",
    "lost-mutation": "what is to be written into an input is not written",
    "backward-random": "the backward draws random numbers, the forward does not",
    "hidden-detach": "a detach that no line of yours wrote cuts what requires grad",
    "retrace": "tracing the captured graph gives another graph",
    "unstable": "tracing the same program again gives another graph",
}
RUN_KINDS = ("retrace", "unstable")
"""Those that no graph shows by itself: they want further captures."""


class Alarm(NamedTuple):
    """One sign."""

    kind: str
    """One of KINDS."""
    graph: str
    """Name of the graph or body; "" where it speaks of the whole capture."""
    subject: str
    """What it is about: ``%y``, or a node's text."""
    why: str
    """What makes it one, in a few words."""
    node: int | None = None
    """Position of the node among the graph's; None where it speaks of none."""
    input: str | None = None
    """Name of the input that it speaks of."""
    source: str | None = None
    """``path:line`` of the user's code, where current knows it."""


class Unseen(NamedTuple):
    """A kind that a capture cannot show."""

    kind: str
    why: str


def told(alarm: Alarm) -> str:
    """Say an alarm in one line: ``dead-node: %3 = aten.view.default(%1, [4]): nothing uses its results``."""
    where = f" at {alarm.source}" if alarm.source else ""
    subject = f"{alarm.subject}: " if alarm.subject else ""
    return f"{alarm.kind}: {subject}{alarm.why}{where}"

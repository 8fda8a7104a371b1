"""Signs of wrongness in what a check captured: which are told, and where they fail the check."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.alarms.alarm import told
from guard.alarms.captures import fingerprint, retrace, unstable
from guard.alarms.program import alarms
from guard.baselines.names import quoted
from guard.baselines.pending import Pending, read_pending
from guard.baselines.store import Store
from guard.errors import GraphSyntaxError
from guard.findings import Finding
from guard.ir.parser import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.alarms.alarm import Alarm
    from guard.config import Config
    from guard.findings import Outcome
    from guard.ir.graph import Program
    from guard.session.setting import Setting

ALARM = "alarm"
MOVED = frozenset(("missing", "drift", "works", "unreadable"))
"""What makes a new baseline: then its alarms are told."""
_SHOWN = 3


class Further(NamedTuple):
    """What capturing again gave."""

    others: tuple[tuple[str, Program], ...] = ()
    """How it was captured, and what."""
    retraced: Program | None = None
    """The graph of the captured graph."""


def sounded(setting: Setting, outcome: Outcome, captured: Any, policy: str, again: Callable[[], Further]) -> Outcome:
    """Return the outcome with what the capture's alarms mean.

    ``note``: those that the baseline does not have are told where a new one is due. ``warn``: all are, in every run.
    ``fail``: they are a finding. What only ``again`` shows is told whatever the policy.

    Args:
        setting: of the run.
        outcome: of the check so far.
        captured: what the tracer gave (guard.tracers.capture.Captured).
        policy: the check's, or the project's.
        again: captures again; only called where the run looks for more.
    """
    if setting.alarms == "seen":
        return replace(outcome, graph=fingerprint(captured.program))
    found: list[Alarm] = []
    moved = any(finding.kind in MOVED for finding in outcome.findings)
    if policy != "note" or moved or setting.alarms == "full":
        found = list(alarms(captured.program, captured.dropped))
    if policy == "note":
        found = new(found, _of_baseline(setting.config, outcome.check)) if moved else []
    if setting.alarms == "full" and captured.program.error is None:
        with setting.watch.phase("capturing again"):
            more = again()
        found += unstable(captured.program, more.others)
        found += retrace(captured.program, more.retraced) if more.retraced is not None else ()
        outcome = replace(outcome, graph=fingerprint(captured.program))
    return meant(outcome, found, policy)


def meant(outcome: Outcome, found: Sequence[Alarm], policy: str) -> Outcome:
    """Return the outcome with these alarms told, as notes or as a finding."""
    if not found:
        return outcome
    if policy != "fail":
        return replace(outcome, notes=(*outcome.notes, *_notes(found, outcome)))
    title = told(found[0])
    more = f"show {quoted(outcome.check)}{' --pending' if outcome.pending else ''}"
    finding = Finding(
        ALARM, outcome.check, title, tuple(told(alarm) for alarm in found[1:]), f"guard {more}", found[0].source
    )
    return replace(outcome, findings=(*outcome.findings, finding))


def new(found: Sequence[Alarm], known: Sequence[Alarm]) -> list[Alarm]:
    """Return the alarms that a baseline does not have: of each kind, as many as there are more of it.

    Those that name what the baseline names are the known ones; a node's number may have moved.
    """
    left = Counter(alarm.kind for alarm in known)
    named = {(alarm.kind, alarm.subject) for alarm in known}
    ordered = sorted(found, key=lambda alarm: (alarm.kind, alarm.subject) not in named)
    fresh = set()
    for place, alarm in enumerate(ordered):
        if left[alarm.kind] > 0:
            left[alarm.kind] -= 1
        else:
            fresh.add(place)
    kept = [alarm for place, alarm in enumerate(ordered) if place in fresh]
    return [alarm for alarm in found if alarm in kept]


def of_pending(config: Config, check: str) -> tuple[str, ...]:
    """Return what an accept of what waits would bring into a check's baseline, a line an alarm."""
    waits = read_pending(config, check)
    if not isinstance(waits, Pending) or waits.text is None:
        return ()
    found = new(_parsed(waits.text), _of_baseline(config, check))
    return tuple(f"{quoted(check)} - alarm, {told(alarm)}" for alarm in found)


def _notes(found: Sequence[Alarm], outcome: Outcome) -> tuple[str, ...]:
    lines = tuple(f"alarm, {told(alarm)}" for alarm in found[:_SHOWN])
    if len(found) <= _SHOWN:
        return lines
    more = f"guard show {quoted(outcome.check)}{' --pending' if outcome.pending else ''} --alarms"
    return (*lines, f"{len(found) - _SHOWN} more alarms: {more}")


def _of_baseline(config: Config, check: str) -> tuple[Alarm, ...]:
    data = Store(config).read(check)
    return () if data is None else _parsed(data)


def _parsed(data: bytes) -> tuple[Alarm, ...]:
    try:
        return alarms(parse_bytes(data, "a graph"))
    except GraphSyntaxError:  # it is a finding, or an accept's refusal
        return ()

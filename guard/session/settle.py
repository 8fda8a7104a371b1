"""Turn what pytest saw of one test, and what guard recorded in it, into outcomes: pure, no pytest object comes in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from guard.findings import Finding, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Seen(NamedTuple):
    """One phase of one test."""

    when: str
    """setup, call or teardown."""
    result: str
    """passed, failed or skipped."""
    kind: Literal["failed", "timeout", "refused", "import", "check", "xfail"] = "failed"
    """Why it did not pass; ``check``: guard has already recorded the finding."""
    title: str = ""
    """Message of the failure, or the reason of a skip."""
    lines: tuple[str, ...] = ()
    source: str | None = None
    fix: str | None = None
    seconds: float = 0.0


def settle(check: str, nodeid: str, recorded: Sequence[Outcome], seen: Seen) -> tuple[Outcome, ...]:
    """Return the outcomes that this phase brings.

    Args:
        check: short id of the test.
        nodeid: pytest's.
        recorded: outcomes of the test's calls of guard.check; of its call phase only.
        seen: what pytest says.
    """
    own = Outcome(check, nodeid, seconds=seen.seconds)
    if seen.kind == "xfail" and seen.result == "skipped":
        return tuple(
            replace(o, findings=(), warned=(), ignored=(), pending=None, skipped=f"expected to fail: {seen.title}")
            for o in recorded or [own]
        )
    if seen.result == "skipped":
        return tuple(recorded) or (replace(own, skipped=seen.title or "skipped"),)
    if seen.result == "failed" and seen.kind != "check":
        return _with_finding(own, recorded, Finding(seen.kind, check, seen.title, seen.lines, seen.fix, seen.source))
    if seen.when == "call" and not recorded:
        return _with_finding(own, (), _empty(check, seen.source))
    return tuple(recorded)


def merge(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Make one outcome a check of those that its phases brought, in the order of first sight."""
    merged: dict[str, Outcome] = {}
    for outcome in outcomes:
        key = outcome.check or outcome.nodeid
        merged[key] = outcome if key not in merged else _merged(merged[key], outcome)
    return tuple(merged.values())


def _merged(first: Outcome, second: Outcome) -> Outcome:
    return replace(
        first,
        findings=tuple(dict.fromkeys((*first.findings, *second.findings))),
        warned=tuple(dict.fromkeys((*first.warned, *second.warned))),
        ignored=tuple(dict.fromkeys((*first.ignored, *second.ignored))),
        policy=first.policy or second.policy,
        needs=tuple(dict.fromkeys((*first.needs, *second.needs))),
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
        seconds=first.seconds + second.seconds,
        pending=first.pending or second.pending,
        graph=first.graph or second.graph,
        counted=first.counted or second.counted,
        replayed=first.replayed or second.replayed,
        skipped=first.skipped if second.skipped is None else None,
    )


def _with_finding(own: Outcome, recorded: Sequence[Outcome], finding: Finding) -> tuple[Outcome, ...]:
    """Give a failure to the call that it followed: a count that is wrong is that capture's."""
    if not recorded:
        return (replace(own, findings=(finding,)),)
    *before, last = recorded
    return (*before, replace(last, findings=(*last.findings, replace(finding, check=last.check))))


def _empty(check: str, source: str | None) -> Finding:
    return Finding(
        "empty",
        check,
        "guards nothing: the test never calls guard.check",
        fix="guard.check(program, ..., tracer=MakeFx())",
        source=source,
    )

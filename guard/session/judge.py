"""Compare a capture with its baseline and say what differs: pure, no file, no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.baselines.names import quoted
from guard.drift.classify import changes
from guard.drift.textdiff import shorten
from guard.errors import GraphSyntaxError
from guard.findings import Finding
from guard.ir.canonical import equal
from guard.ir.parser import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from guard.drift.change import Change
    from guard.ir.graph import CaptureError, Program

    # (baseline, current, what moved) -> lines of cost
    Costs: TypeAlias = Callable[[Program, Program, Sequence[Change]], tuple[str, ...]]


def judge(
    current: Program, text: str, baseline: bytes | None, path: str, costs: Costs | None = None
) -> tuple[Finding, ...]:
    """Return what fails the check: nothing where it holds, one finding for each cause where it drifted.

    Equal texts are never parsed: only a textual difference pays for the canonical comparison.

    Args:
        current: what this run captured; ``current.check`` is the id that findings carry.
        text: ``current`` as printed.
        baseline: bytes of the reviewed file, None where there is none.
        path: the baseline's path, for messages.
        costs: what a drift costs, which the first finding then says.
    """
    if baseline is None:
        return (_missing(current, path),)
    if baseline == text.encode():
        return ()
    try:
        reviewed = parse_bytes(baseline, path)
    except GraphSyntaxError as error:
        return (_unreadable(current.check, error),)
    if reviewed.error is None and current.error is None:
        found = changes(reviewed, current)
        said = costs(reviewed, current, found) if costs is not None and found else ()
        return tuple(_drift(change, current.check, () if nth else said) for nth, change in enumerate(found))
    return () if equal(reviewed, current) else (_differs(reviewed, current),)


def accept(check: str) -> str:
    """Return the command that makes current the baseline."""
    return f"guard accept {quoted(check)}"


def _missing(current: Program, path: str) -> Finding:
    if current.error is not None:
        return Finding(
            "missing", current.check, "no baseline, and the capture fails", _error_lines(current), accept(current.check)
        )
    nodes = sum(len(graph.nodes) for graph in current.graphs)
    title = f"no baseline yet; captured {_count(nodes, 'node')}"
    return Finding("missing", current.check, title, (f"wanted {path}",), accept(current.check))


def _unreadable(check: str, error: GraphSyntaxError) -> Finding:
    where = f"{error.path}:{error.line}:{error.column}"
    return Finding("unreadable", check, f"the baseline does not parse: {error.message}", (where,), accept(check), where)


def _differs(baseline: Program, current: Program) -> Finding:
    was, now = baseline.error, current.error
    if now is not None:
        title = (
            f"fails differently: {now.kind}, was {was.kind}"
            if was is not None
            else f"the capture now fails: {now.kind}"
        )
        return Finding("error", current.check, title, _error_lines(current, was), accept(current.check), now.source)
    assert was is not None  # noqa: S101 - one of the two failed
    title = f"the capture works now; it failed before: {was.kind}"
    return Finding("works", current.check, title, (was.line,), accept(current.check))


def _drift(change: Change, check: str, cost: tuple[str, ...]) -> Finding:
    lines = shorten(change.lines, f"guard diff {quoted(check)}")
    if change.known is not None:
        lines = (*lines, change.known)
    title = f"{change.kind}, {change.title}"
    return Finding("drift", check, title, lines, accept(check), change.source, drift=change.kind, cost=cost)


def _error_lines(current: Program, was: CaptureError | None = None) -> tuple[str, ...]:
    assert current.error is not None  # noqa: S101 - callers have looked
    return tuple(_describe(current.error, current, was))


def _describe(error: CaptureError, current: Program, was: CaptureError | None) -> Iterator[str]:
    if was is not None and was.line != error.line:
        yield f"- {was.line}"
        yield f"+ {error.line}"
    else:
        yield error.line
    if error.code or error.source:
        yield f"at {error.source or '?'}: {error.code}".rstrip(": ")
    if error.cause is not None:
        yield error.cause
    if current.partial is not None:
        yield f"{_count(len(current.partial.nodes), 'node')} traced before it failed"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

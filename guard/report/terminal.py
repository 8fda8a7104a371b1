"""A run as text for a person. Pure: whether to colour is given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guard.baselines.names import quoted
from guard.findings import HOLDS, KINDS, SKIPPED
from guard.report.color import paint
from guard.report.summary import duration, summary
from guard.verdict import HOLD, exit_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.findings import Finding, Outcome, Run

# What the command on the last line of a finding answers; other kinds have a plain fix
_LEAD = {
    "drift": "intended?",
    "error": "intended?",
    "works": "intended?",
    "missing": "right?",
    "orphan": "meant to go?",
}
_NEWS = frozenset(("drift", "works", "fix", "missing", "orphan"))
_SIGNS = {"+ ": "added", "- ": "removed"}
# A message of torch's may hold anything: it must not reach the terminal as a command
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RANK = {status: rank for rank, status in enumerate((*KINDS, SKIPPED, HOLDS))}


def render(run: Run, *, color: bool = False, verbose: bool = False) -> str:
    """Print a run: findings from worst to best, notes, the summary line.

    Args:
        run: What was seen.
        color: Whether to write ANSI codes.
        verbose: Whether to list checks that hold or were skipped, too.
    """
    outcomes = sorted(run.outcomes, key=lambda outcome: (_RANK[outcome.status], outcome.check, outcome.nodeid))
    blocks = [block for outcome in outcomes for block in _outcome(outcome, color=color, verbose=verbose)]
    blocks += [f"note: {clean(note)}\n" for note in run.notes]
    blocks.append(f"{paint(summary(run), 'good' if exit_code(run) == HOLD else 'bad', color=color)}\n")
    return "".join(blocks)


def render_finding(finding: Finding, *, color: bool = False) -> str:
    """Print one finding: kind, id and title; the indented body; where; the command to run."""
    return "\n".join(_finding(finding, color=color)) + "\n"


def clean(text: str) -> str:
    """Make control characters visible."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _outcome(outcome: Outcome, *, color: bool, verbose: bool) -> Iterator[str]:
    for finding in sorted(outcome.findings, key=lambda finding: _RANK[finding.kind]):
        yield render_finding(finding, color=color)
    if not outcome.findings and verbose:
        yield _quiet(outcome, color=color)
    for note in outcome.notes:
        yield f"note: {_name(outcome.check or outcome.nodeid)} - {clean(note)}\n"


def _quiet(outcome: Outcome, *, color: bool) -> str:
    name = _name(outcome.check or outcome.nodeid)
    if outcome.skipped is not None:
        return f"skipped: {name} - {clean(outcome.skipped)}\n"
    needs = f", needs fix {', '.join(outcome.needs)}" if outcome.needs else ""
    return f"{paint('holds', 'good', color=color)}: {name}{needs} in {duration(outcome.seconds)}\n"


def _finding(finding: Finding, *, color: bool) -> Iterator[str]:
    kind = paint(finding.kind, "news" if finding.kind in _NEWS else "bad", color=color)
    subject = f"{_name(finding.check)} - " if finding.check else ""
    yield f"{kind}: {subject}{clean(finding.title)}"
    lines = [line for text in finding.lines for line in clean(text).split("\n")]
    for line in lines:
        yield f"  {paint(line, _SIGNS.get(line[:2]), color=color)}".rstrip()
    if finding.source is not None and not any(finding.source in line for line in lines):
        yield f"  at {clean(finding.source)}"
    if finding.fix is not None:
        yield f"  {_LEAD.get(finding.kind, 'try:')} {clean(finding.fix)}"


def _name(check: str) -> str:
    return clean(quoted(check))

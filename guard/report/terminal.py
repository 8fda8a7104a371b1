"""A run as text for a person. Pure: whether to colour is given."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from guard.baselines.names import quoted
from guard.findings import HOLDS, KINDS, SKIPPED, UNCHANGED
from guard.report.color import paint
from guard.report.groups import Group, grouped, listed
from guard.report.summary import duration, summary
from guard.verdict import HOLD, exit_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from guard.findings import Finding, Outcome, Run

# What the command on the last line of a finding answers; other kinds have a plain fix
_LEAD = {
    "drift": "intended?",
    "trace-cost": "intended?",
    "error": "intended?",
    "works": "intended?",
    "missing": "right?",
    "orphan": "meant to go?",
}
_NEWS = frozenset(("drift", "trace-cost", "works", "fix", "missing", "orphan"))
_SIGNS = {"+ ": "added", "- ": "removed"}
# A message of torch's may hold anything: it must not reach the terminal as a command, nor read as something else than
# it is (the marks that turn text around: www.unicode.org/reports/tr36, "Trojan Source")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# Nobody reads more of one line, and some terminals choke on it
_LONGEST = 4000
_RANK = {status: rank for rank, status in enumerate((*KINDS, SKIPPED, UNCHANGED, HOLDS))}


def render(run: Run, *, color: bool = False, verbose: bool = False) -> str:
    """Print a run: findings from worst to best, each cause once, notes, the summary line.

    Args:
        run: What was seen.
        color: Whether to write ANSI codes.
        verbose: Whether to give every check its line: those that hold or were skipped, those whose finding is shown
            with another's, and what policy ignores.
    """
    outcomes = sorted(run.outcomes, key=lambda outcome: (_RANK[outcome.status], outcome.check, outcome.nodeid))
    shown = _first_of_their_cause(outcomes)
    blocks = [block for outcome in outcomes for block in _outcome(outcome, shown, color=color, verbose=verbose)]
    blocks += [f"note: {clean(note)}\n" for note in run.notes]
    blocks.append(f"{paint(summary(run), 'good' if exit_code(run) == HOLD else 'bad', color=color)}\n")
    return "".join(blocks)


def render_finding(finding: Finding, *, color: bool = False, warned: bool = False) -> str:
    """Print one finding: kind, id and title; the indented body; where; the command to run."""
    return "\n".join(_finding(Group(finding), finding.fix, color=color, warned=warned)) + "\n"


def visible(text: str) -> str:
    """Make control characters visible."""
    return _CONTROL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - as Python spells them


def clean(text: str) -> str:
    """Make control characters visible, and cut lines that nobody reads."""
    text = visible(text)
    return text if len(text) <= _LONGEST else "\n".join(map(_cut, text.split("\n")))


def _cut(line: str) -> str:
    more = len(line) - _LONGEST
    return line if more <= 0 else f"{line[:_LONGEST]} ... {more} more characters"


def rows(lines: Iterable[str], *, color: bool = False) -> Iterator[str]:
    """Indent the rows of a change and colour what was added and removed."""
    for line in (line for text in lines for line in clean(text).split("\n")):
        yield f"  {paint(line, _SIGNS.get(line[:2]), color=color)}".rstrip()


def _first_of_their_cause(outcomes: Sequence[Outcome]) -> dict[Finding, Group]:
    """Return the findings to show, each with those that it stands for."""
    failing = [finding for outcome in outcomes for finding in _worst_first(outcome)]
    warned = [finding for outcome in outcomes for finding in outcome.warned]
    return {group.first: group for group in (*grouped(failing), *grouped(warned))}


def _worst_first(outcome: Outcome) -> list[Finding]:
    return sorted(outcome.findings, key=lambda finding: _RANK[finding.kind])


def _outcome(outcome: Outcome, shown: Mapping[Finding, Group], *, color: bool, verbose: bool) -> Iterator[str]:
    for findings, warned in ((_worst_first(outcome), False), (list(outcome.warned), True)):
        for finding, after in zip_longest(findings, findings[1:]):
            group = shown.get(finding)
            if group is not None:
                # one accept takes all that moved in a check: say it once
                fix = None if after in shown and shown[after].fix == group.fix else group.fix
                yield "\n".join(_finding(group, fix, color=color, warned=warned)) + "\n"
            elif verbose:
                yield f"{_head(finding, color=color, warned=warned)}\n"
    if verbose:
        yield from (f"ignored {_head(finding, color=False)} ({clean(finding.reason)})\n" for finding in outcome.ignored)
    if not outcome.findings and verbose:
        yield _quiet(outcome, color=color)
    for note in outcome.notes:
        yield f"note: {_name(outcome.check or outcome.nodeid)} - {clean(note)}\n"


def _quiet(outcome: Outcome, *, color: bool) -> str:
    name = _name(outcome.check or outcome.nodeid)
    if outcome.skipped is not None:
        return f"skipped: {name} - {clean(outcome.skipped)}\n"
    needs = f", needs fix {', '.join(outcome.needs)}" if outcome.needs else ""
    if outcome.unchanged:
        return f"{paint('unchanged', 'good', color=color)}: {name}{needs}\n"
    counted = outcome.counted
    lacks = counted is not None and counted.state in ("none", "lost")
    none = f", no trace cost: {clean(counted.said)}" if counted is not None and lacks else ""
    seen = outcome.replayed
    unseen = f", not replayed: {clean(seen.reason)}" if seen is not None and seen.state == "not replayed" else ""
    return f"{paint('holds', 'good', color=color)}: {name}{needs}{unseen} in {duration(outcome.seconds)}{none}\n"


def _finding(group: Group, fix: str | None, *, color: bool, warned: bool) -> Iterator[str]:
    finding = group.first
    yield _head(finding, color=color, warned=warned, more=len(group.checks) - 1)
    yield from rows(finding.lines, color=color)
    yield from (f"  {clean(line)}" for line in finding.cost)
    if finding.source is not None and not any(finding.source in line for line in finding.lines):
        yield f"  at {clean(finding.source)}"
    yield from (f"  {clean(line)}" for line in finding.evidence)
    if warned and finding.reason:
        yield f"  policy lets it pass: {clean(finding.reason)}"
    if len(group.checks) > 1:
        yield "  the same in"
        yield from (f"    {clean(line)}" for line in listed(group.checks[1:]))
    if fix is not None:
        yield f"  {_LEAD.get(finding.kind, 'try:')} {clean(fix)}"


def _head(finding: Finding, *, color: bool, warned: bool = False, more: int = 0) -> str:
    kind = paint(finding.kind, "news" if finding.kind in _NEWS else "bad", color=color)
    others = f" and {more} more" if more else ""
    subject = f"{_name(finding.check)}{others} - " if finding.check else ""
    return f"{'warning, ' if warned else ''}{kind}: {subject}{clean(finding.title)}"


def _name(check: str) -> str:
    return clean(quoted(check))

"""What a run found, worst first, each cause once: what annotations, the summary page and SARIF show. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.findings import KINDS
from guard.report.groups import grouped

if TYPE_CHECKING:
    from guard.findings import Finding, Outcome, Run
    from guard.report.groups import Group


class Found(NamedTuple):
    """A finding, and the check that it is of."""

    finding: Finding
    outcome: Outcome
    warned: bool
    """Policy lets it pass."""


class Cause(NamedTuple):
    """Findings of one cause."""

    group: Group
    outcome: Outcome
    """Of the first of them."""
    warned: bool

    @property
    def more(self) -> int:
        """How many other checks have it."""
        return len(self.group.checks) - 1


def found(run: Run) -> tuple[Found, ...]:
    """Return everything that was found: what fails before what policy only warns of, from worst to best, by id."""
    failing = [Found(one, outcome, warned=False) for outcome in run.outcomes for one in outcome.findings]
    warned = [Found(one, outcome, warned=True) for outcome in run.outcomes for one in outcome.warned]
    return (*sorted(failing, key=_rank), *sorted(warned, key=_rank))


def causes(run: Run) -> tuple[Cause, ...]:
    """Return the same, each cause once."""
    made = []
    for warned in (False, True):
        these = [one for one in found(run) if one.warned is warned]
        owners = {id(one.finding): one.outcome for one in these}
        groups = grouped(one.finding for one in these)
        made += [Cause(group, owners[id(group.first)], warned) for group in groups]
    return tuple(made)


def _rank(one: Found) -> tuple[int, str, str]:
    return KINDS.index(one.finding.kind), one.outcome.check, one.outcome.nodeid


def place(finding: Finding, outcome: Outcome) -> tuple[str, int | None]:
    """Return the file and line to show a finding at, relative to the root: the check's own line, else what is known.

    "" is no file: what was found belongs to none, such as an internal error.
    """
    for known in (outcome.source, finding.source or "", outcome.nodeid.partition("::")[0]):
        path, colon, line = known.rpartition(":")
        if colon and line.isascii() and line.isdecimal():
            return path, max(int(line), 1)
        if known:
            return known, None
    return "", None

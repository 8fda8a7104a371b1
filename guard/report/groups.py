"""Findings of one cause in many checks, which a reader wants to see once. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.baselines.names import quoted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from guard.findings import Finding

MOST = 8
"""Ids that are listed, and accepted in one command."""
# One torch or one edit moves many graphs alike; crashes, timeouts and failed tests that read alike need not be
_GROUPED = frozenset(("drift", "error", "works", "fix"))
_VALUE = re.compile(r'%(?:"(?:[^"\\]|\\.)*"|[\w.]+)')
_SOURCE = re.compile(r" {2,}\S+:\d+$")


@dataclass(frozen=True)
class Group:
    """One cause."""

    first: Finding
    others: tuple[Finding, ...] = ()

    @property
    def checks(self) -> tuple[str, ...]:
        """The ids, each once, in order."""
        return tuple(dict.fromkeys(finding.check for finding in (self.first, *self.others)))

    @property
    def fix(self) -> str | None:
        """One command for all of them."""
        if self.first.fix is None or not self.others or not self.first.fix.startswith("guard accept "):
            return self.first.fix
        few = len(self.checks) <= MOST
        return f"guard accept {' '.join(quoted(check) for check in self.checks)}" if few else "guard review"


def grouped(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Put findings of one cause together, in the order of their first ones."""
    groups: dict[Hashable, list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault(cause(finding) if finding.kind in _GROUPED else number, []).append(finding)
    return tuple(Group(first, tuple(others)) for first, *others in groups.values())


def cause(finding: Finding) -> Hashable:
    """Return what findings of one cause have in common: kind, class, who, title, changed rows up to names and places.

    Rows of context are no part of it, and neither is what is said of one check alone, such as its history.
    """
    changed = (line for line in finding.lines if line.startswith(("+ ", "- ")))
    rows = tuple(_VALUE.sub("%", _SOURCE.sub("", line)) for line in changed)
    return finding.kind, finding.drift, finding.by, finding.title, rows or finding.lines


def listed(checks: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line an id; where they are many, the last line says how many more."""
    if len(checks) <= MOST:
        return tuple(quoted(check) for check in checks)
    return (*(quoted(check) for check in checks[:MOST]), f"and {len(checks) - MOST} more")

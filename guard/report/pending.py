"""What waits for a person, each cause once, as text or JSON. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.baselines.names import quoted
from guard.findings import KINDS
from guard.report.differences import change
from guard.report.groups import cause, listed
from guard.report.json import dump
from guard.report.terminal import clean, render_finding

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from guard.findings import Finding


@dataclass(frozen=True)
class Entry:
    """One check that has something pending."""

    check: str
    findings: tuple[Finding, ...]
    """Why it waits, compared with the baseline of now; nothing where the two are equal by now."""
    warnings: tuple[str, ...] = ()
    """What to know before it is accepted: moved sources, a moved baseline."""
    graph: str = ""
    """Digest of the text but for the check's id: new baselines with the same graphs have one cause."""


@dataclass(frozen=True)
class Cause:
    """Checks that wait for one reason."""

    entries: tuple[Entry, ...]

    @property
    def checks(self) -> tuple[str, ...]:
        """Their ids."""
        return tuple(entry.check for entry in self.entries)


def causes(entries: Iterable[Entry]) -> tuple[Cause, ...]:
    """Group by everything that was found in a check, worst first, then by id."""
    groups: dict[Hashable, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: (_rank(entry), entry.check)):
        missing = any(finding.kind == "missing" for finding in entry.findings)
        alike = entry.graph if missing else tuple(map(cause, entry.findings)) or entry.check
        groups.setdefault((missing, alike), []).append(entry)
    return tuple(Cause(tuple(found)) for found in groups.values())


def _rank(entry: Entry) -> int:
    return min((KINDS.index(finding.kind) for finding in entry.findings), default=len(KINDS))


def render(cause: Cause, *, color: bool = False) -> str:
    """Print a cause: the findings of its first check, what to know, the other checks."""
    first, *others = cause.entries
    text = "".join(render_finding(finding, color=color) for finding in first.findings)
    lines = [f"warning: {warning}" for entry in cause.entries for warning in entry.warnings]
    if not first.findings:
        text = f"equal: {clean(quoted(first.check))} - what waits is what the baseline says by now\n"
    if others:
        lines += ["the same in", *(f"  {line}" for line in listed(cause.checks[1:]))]
    return text + "".join(f"  {clean(line)}\n" for line in lines)


def as_text(found: Sequence[Cause], *, color: bool = False) -> str:
    """Print all of them and how many there are."""
    number = sum(len(cause.entries) for cause in found)
    reasons = f", {len(found)} cause{'' if len(found) == 1 else 's'}" if len(found) < number else ""
    return "".join(render(cause, color=color) for cause in found) + f"{number} pending{reasons}\n"


def as_json(found: Sequence[Cause]) -> str:
    """Print them for a program; docs/json.md documents the keys."""
    rows = [_plain(entry, number) for number, cause in enumerate(found, 1) for entry in cause.entries]
    return dump({"pending": rows})


def _plain(entry: Entry, number: int) -> dict[str, object]:
    found = [change(finding) for finding in entry.findings]
    return {"check": entry.check, "cause": number, "changes": found, "warnings": list(entry.warnings)}

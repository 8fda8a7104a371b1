"""What moved between two graphs, as text or JSON. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.report.color import paint
from guard.report.json import dump
from guard.report.terminal import clean, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.findings import Finding

EQUAL = "equal: the same graphs, but for names and legal order\n"


def as_text(found: Sequence[Finding], *, color: bool = False) -> str:
    """Print each change: its class and title, then its rows."""
    return "".join(f"{line}\n" for finding in found for line in _lines(finding, color=color)) or EQUAL


def as_json(baseline: str, current: str, found: Sequence[Finding]) -> str:
    """Print the pair and its changes for a program."""
    sides = {"baseline": baseline, "current": current}
    return dump({**sides, "equal": not found, "changes": [change(finding) for finding in found]})


def change(finding: Finding) -> dict[str, Any]:
    """Return one change as plain data."""
    return {"kind": finding.kind, "drift": finding.drift, "title": finding.title, "lines": list(finding.lines)}


def _lines(finding: Finding, *, color: bool) -> Iterator[str]:
    yield paint(clean(finding.title), "news" if finding.kind == "drift" else "bad", color=color)
    yield from rows(finding.lines, color=color)

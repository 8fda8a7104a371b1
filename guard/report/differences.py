"""What moved between two graphs, as text or JSON. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.cost.compare import lines
from guard.report.color import paint
from guard.report.cost import difference_record
from guard.report.json import dump
from guard.report.terminal import clean, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.cost.compare import Difference
    from guard.findings import Finding

SAME_COST = "cost: the same"
EQUAL = "equal: the same graphs, but for names and legal order\n"


def as_text(found: Sequence[Finding], cost: Difference | None = None, *, color: bool = False) -> str:
    """Print each change: its class and title, then its rows; behind them all what they cost."""
    if not found:
        return EQUAL
    said = [] if cost is None else [clean(line) for line in lines(cost) or (SAME_COST,)]
    return "".join(f"{line}\n" for line in (*(row for one in found for row in _lines(one, color=color)), *said))


def as_json(baseline: str, current: str, found: Sequence[Finding], cost: Difference | None = None) -> str:
    """Print the pair and its changes for a program."""
    sides = {"baseline": baseline, "current": current}
    said = None if cost is None else difference_record(cost, lines(cost))
    return dump({**sides, "equal": not found, "changes": [change(finding) for finding in found], "cost": said})


def change(finding: Finding) -> dict[str, Any]:
    """Return one change as plain data."""
    own = {"kind": finding.kind, "drift": finding.drift, "title": finding.title, "lines": list(finding.lines)}
    return {**own, "cost": list(finding.cost)} if finding.cost else own


def _lines(finding: Finding, *, color: bool) -> Iterator[str]:
    yield paint(clean(finding.title), "news" if finding.kind == "drift" else "bad", color=color)
    yield from rows(finding.lines, color=color)

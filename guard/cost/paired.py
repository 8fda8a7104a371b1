"""What running a pair of graphs side by side gave: frozen data between the process that measures and the report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from guard.cost.ratio import Ratio, slower


@dataclass(frozen=True)
class Paired:
    """Baseline's graph against current's, of one name."""

    graph: str
    problem: str | None = None
    """Why it was not run; everything below is empty then."""
    where: str | None = None
    """The node of the text that the problem is about, as printed."""
    side: str | None = None
    """Whose node: ``baseline`` or ``current``."""
    values: str = ""
    """``same values``, or ``values differ``."""
    difference: str | None = None
    """First wrong element, wanted and got."""
    ratio: Ratio | None = None
    """None where nothing was timed."""

    @property
    def is_slower(self) -> bool:
        """Beyond tolerance and floor, and not report-only."""
        return self.ratio is not None and self.ratio.report_only is None and slower(self.ratio)


def to_json(found: Paired) -> dict[str, Any]:
    """Return plain data."""
    return {**asdict(found), "ratio": None if found.ratio is None else found.ratio._asdict()}


def from_json(record: dict[str, Any]) -> Paired:
    """Read what to_json wrote."""
    ratio = record["ratio"]
    return Paired(**{**record, "ratio": None if ratio is None else Ratio(**ratio)})

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
    line: int | None = None
    """Line of that node in its file."""
    side: str | None = None
    """Whose node: ``baseline`` or ``current``."""
    values: str = ""
    """``same values``, or ``values differ``."""
    difference: str | None = None
    """First wrong element, wanted and got."""
    ratio: Ratio | None = None
    """None where nothing was timed."""
    kernels: tuple[int, int] | None = None
    """That one call of the baseline's graph and one of current's launch; None where there are none or nobody saw."""

    @property
    def is_slower(self) -> bool:
        """Beyond tolerance and floor, and not report-only."""
        return self.ratio is not None and self.ratio.report_only is None and slower(self.ratio)


@dataclass(frozen=True)
class Benched:
    """What ``guard bench`` says of one check."""

    check: str
    problem: str | None = None
    """Why none of its graphs was run."""
    idle: bool = False
    """Nothing is pending: it held when it was last checked, or was not checked yet."""
    drifts: tuple[str, ...] = ()
    """Classes of what moved."""
    pairs: tuple[Paired, ...] = ()
    """One a graph, in the order of the file."""
    confirmed: frozenset[str] = frozenset()
    """Graphs that were slower in a fresh process, too."""
    path: str = ""
    """The baseline's, for messages."""

    @property
    def slower(self) -> tuple[Paired, ...]:
        """What fails the run."""
        return tuple(pair for pair in self.pairs if pair.is_slower and pair.graph in self.confirmed)

    @property
    def same_values(self) -> bool:
        """Known to compute what the baseline's graphs do: nothing is pending, or all of them ran and agree."""
        ran = self.problem is None and all(pair.problem is None for pair in self.pairs)
        return self.idle or (ran and all(pair.difference is None for pair in self.pairs))


def to_json(found: Paired) -> dict[str, Any]:
    """Return plain data."""
    return {**asdict(found), "ratio": None if found.ratio is None else found.ratio._asdict()}


def from_json(record: dict[str, Any]) -> Paired:
    """Read what to_json wrote."""
    ratio, kernels = record["ratio"], record["kernels"]
    return Paired(
        **{
            **record,
            "ratio": None if ratio is None else Ratio(**ratio),
            "kernels": None if kernels is None else tuple(kernels),
        }
    )


def line_of(text: str, node: str) -> int | None:
    """Find the line of a file that a node, as print_node prints it, begins on; None where it is written otherwise.

    A long list goes on over several lines: the longest beginning of the node is its first.
    """
    found: tuple[int, int] = (0, 0)
    for number, line in enumerate(text.splitlines(), 1):
        start = line.strip()
        if node.startswith(start):
            found = max(found, (len(start), -number))
    return -found[1] if found[0] else None

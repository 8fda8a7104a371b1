"""Two graphs' times side by side: the ratio, and whether it may fail a run. Pure; knows no torch and no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

QUADS = 25
"""At 25 the median of per-quad ratios gave 0.5 % false alarms at 1.05x beside a busy neighbour."""
TOLERANCE = 0.05
"""Relative: the smallest slowdown that the median of 25 quads tells from noise."""
FLOOR = 20e-6
"""Seconds a call: what a few nodes' dispatch takes, which is no kernel's time."""
DISPATCH = 20e-6
"""Seconds a node: below it the interpreter and the dispatcher are measured, not kernels (2-10 us a node on CPUs)."""
FEWEST = 9
"""Quads, below which a median says little: slow graphs get fewer than they asked for."""
_SIDE = 0.25  # of the quads, that each of two modes must hold


class Quad(NamedTuple):
    """Seconds a call, measured in the order baseline, current, current, baseline: a drift of the clock cancels."""

    first: float
    current: float
    again: float
    last: float

    @property
    def ratio(self) -> float:
        """Current over baseline."""
        return (self.current + self.again) / (self.first + self.last)


class Ratio(NamedTuple):
    """What the quads of one pair of graphs say."""

    ratio: float
    """Median of the quads' ratios, current over baseline."""
    baseline: float
    """Seconds a call, the median of its halves."""
    current: float
    report_only: str | None = None
    """Why this may not fail a run, None where it may."""

    @property
    def difference(self) -> float:
        """Seconds a call that current takes more."""
        return self.baseline * (self.ratio - 1)


def measured(quads: Sequence[Quad], nodes: int) -> Ratio:
    """Sum up the quads.

    Args:
        quads: at least one.
        nodes: of current's graph, to tell kernels from dispatch: a kernel that became many slow ones is no dispatch.
    """
    ratios = [quad.ratio for quad in quads]
    baseline = median([(quad.first + quad.last) / 2 for quad in quads])
    current = median([(quad.current + quad.again) / 2 for quad in quads])
    found = Ratio(median(ratios), baseline, current)
    return found._replace(report_only=_few(quads) or _occupancy(current, nodes) or bimodal(ratios))


def slower(found: Ratio, tolerance: float = TOLERANCE, floor: float = FLOOR) -> bool:
    """Tell whether current is slower beyond both the tolerance and the floor."""
    return found.ratio > 1 + tolerance and found.difference > floor


def faster(found: Ratio, tolerance: float = TOLERANCE, floor: float = FLOOR) -> bool:
    """Tell whether current is faster beyond both: worth a note."""
    return found.ratio < 1 - tolerance and found.difference < -floor


def bimodal(ratios: Sequence[float]) -> str | None:
    """Describe two modes, None where there is one: a gap wider than the tolerance with a quarter on each side of it.

    Two modes are two states of the machine (frequency, a page cache, a thread's core), and a median picks either.
    """
    ordered = sorted(ratios)
    count = len(ordered)
    edge = max(1, round(count * _SIDE))
    places = range(edge, count - edge + 1)
    if not places or count < 4:  # noqa: PLR2004 - two on each side
        return None
    cut = max(places, key=lambda place: ordered[place] - ordered[place - 1])
    gap = ordered[cut] - ordered[cut - 1]
    within = max(ordered[cut - 1] - ordered[0], ordered[-1] - ordered[cut])
    if gap <= TOLERANCE or gap <= within:
        return None
    low, high = median(ordered[:cut]), median(ordered[cut:])
    return f"two modes: {low:.2f}x in {cut} quads, {high:.2f}x in {count - cut}"


def median(values: Sequence[float]) -> float:
    """The middle one, or half of the middle two.

    Not from ``statistics``, which takes 10 ms to import at the start of each verb.
    """
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _few(quads: Sequence[Quad]) -> str | None:
    return f"only {len(quads)} quads, wanted {FEWEST}" if len(quads) < FEWEST else None


def _occupancy(seconds: float, nodes: int) -> str | None:
    each = seconds / max(nodes, 1)
    return f"low occupancy: {each * 1e6:.0f} us a node is dispatch, not kernels" if each < DISPATCH else None

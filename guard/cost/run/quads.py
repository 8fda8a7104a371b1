"""ABBA quads: baseline, current, current, baseline, so that what changes steadily meanwhile cancels."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from guard.cost.ratio import Quad, median
from guard.ir.collector import without_collection

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.cost.run.clock import Clock

SAMPLE = 2e-3  # seconds a sample takes at least: 1000 times what reading the clock twice costs
MOST = 200  # calls a sample
BUDGET = 60.0  # seconds that all quads of one pair may take: a graph that is slower gets fewer of them


def quads(
    baseline: Callable[[], Any], current: Callable[[], Any], count: int, clock: Clock, between: Callable[[], None]
) -> list[Quad]:
    """Measure ``count`` quads.

    Args:
        baseline: runs its graph once; it has run before.
        current: runs its graph once; it has run before.
        count: of quads; fewer where they would take longer than a minute, but never none.
        clock: seconds of one call.
        between: puts the inputs back before each call; not timed.
    """
    calls, each = _calls(baseline, clock, between)
    count = max(1, min(count, int(BUDGET / (4 * calls * each))))

    def sample(call: Callable[[], Any]) -> float:
        # the median: on a busy machine a call of microseconds that is preempted takes milliseconds
        return median([_one(call, clock, between) for _ in range(calls)])

    gc.collect()
    with without_collection():
        return [Quad(sample(baseline), sample(current), sample(current), sample(baseline)) for _ in range(count)]


def _one(call: Callable[[], Any], clock: Clock, between: Callable[[], None]) -> float:
    between()
    return clock(call)


def _calls(call: Callable[[], Any], clock: Clock, between: Callable[[], None]) -> tuple[int, float]:
    """Calls that fill a sample, and the seconds of one, by the fastest of three: the first may still warm up."""
    best = 60.0
    for _ in range(3):
        best = max(min(best, _one(call, clock, between)), 1e-7)
    return min(MOST, int(SAMPLE / best) + 1), best

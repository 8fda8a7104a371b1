"""ABBA quads: baseline, current, current, baseline, so that what changes steadily meanwhile cancels."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from guard.cost.ratio import Quad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.cost.run.clock import Clock

SAMPLE = 2e-3  # seconds a sample takes at least: 1000 times what reading the clock twice costs
MOST = 200  # calls a sample


def quads(
    baseline: Callable[[], Any], current: Callable[[], Any], count: int, clock: Clock, between: Callable[[], None]
) -> list[Quad]:
    """Measure ``count`` quads.

    Args:
        baseline: runs its graph once; it has run before.
        current: runs its graph once; it has run before.
        count: of quads.
        clock: seconds of one call.
        between: puts the inputs back before each call; not timed.
    """
    calls = _calls(baseline, clock, between)

    def sample(call: Callable[[], Any]) -> float:
        total = 0.0
        for _ in range(calls):
            between()
            total += clock(call)
        return total / calls

    with _no_collection():
        return [Quad(sample(baseline), sample(current), sample(current), sample(baseline)) for _ in range(count)]


def _calls(call: Callable[[], Any], clock: Clock, between: Callable[[], None]) -> int:
    """Calls that fill a sample, by the fastest of three: the first may still warm up."""
    best = float("inf")
    for _ in range(3):
        between()
        best = min(best, clock(call))
    return max(1, min(MOST, int(SAMPLE / max(best, 1e-9)) + 1))


@contextmanager
def _no_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

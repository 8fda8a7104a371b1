"""Rounds that somebody else times, with the baseline between them: ABBA through pytest-benchmark's ``pedantic``.

pedantic calls ``setup``, the timed target and ``teardown`` once a round. The baseline runs in the setup of one round
and in the teardown of the next, so that two rounds are one quad: baseline, current, current, baseline.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from guard.cost.ratio import QUADS, Quad, Ratio, measured
from guard.cost.run.clock import clock_of
from guard.cost.run.quads import BUDGET
from guard.ir.collector import without_collection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.cost.run.couple import Couple

SPARE = 1.0  # seconds that a check may take for more quads than it needs: single calls are noisier than bench's samples
MOST = 500  # quads


def rounds(couples: Sequence[Couple], pedantic: Callable[..., Any]) -> Ratio | None:
    """Time all graphs of a check, one after the other as one call, against the baseline's.

    Args:
        couples: at least one.
        pedantic: of pytest-benchmark's fixture; it gets current's calls as its rounds.

    Returns:
        The ratio by guard's own clock; None where pedantic ran less than a quad, as with ``--benchmark-disable``.
    """
    with torch.no_grad(), without_collection():
        for both in couples:
            both.warm_up()
        turns = _Turns(couples)
        count = _count(turns)
        pedantic(turns.current, setup=turns.before, teardown=turns.after, rounds=2 * count)
    found = turns.quads(count)
    return measured(found, sum(both.nodes for both in couples)) if found else None


def _count(turns: _Turns) -> int:
    each = max(min(turns.baseline() for _ in range(3)), 1e-7)
    return max(1, min(MOST, int(BUDGET / (4 * each)), max(QUADS, int(SPARE / (4 * each)))))


class _Turns:
    """Whose turn it is, and how long each took."""

    def __init__(self, couples: Sequence[Couple]) -> None:
        self._couples = couples
        self._clock = clock_of(couples[0].current.graph.device)
        self._first: list[float] = []
        self._current: list[float] = []
        self._last: list[float] = []

    def before(self) -> None:
        """Run the baseline before each other round."""
        if len(self._current) % 2 == 0:
            self._first.append(self.baseline())
        self._restore()

    def current(self) -> None:
        """Run current once: what is timed."""
        self._current.append(self._time([both.current.module for both in self._couples]))

    def after(self) -> None:
        """Run the baseline behind each other round."""
        if len(self._current) % 2 == 0:
            self._last.append(self.baseline())

    def baseline(self) -> float:
        """Run the baseline once; return its seconds."""
        self._restore()
        return self._time([both.baseline.module for both in self._couples])

    def quads(self, count: int) -> list[Quad]:
        """Those that are whole; behind ``count`` of them a profiler may have run, which is no time."""
        halves = zip(self._first, self._current[::2], self._current[1::2], self._last, strict=False)
        return [Quad(*found) for found in halves][:count]

    def _time(self, modules: Sequence[Any]) -> float:
        pairs = zip(modules, self._couples, strict=True)
        return sum(self._clock(partial(run, *both.inputs)) for run, both in pairs)

    def _restore(self) -> None:
        for both in self._couples:
            both.state.restore()

"""Run cost beside a busy neighbour: false alarms of a graph against itself, and how often a tenth more is caught.

Beside it what ``--benchmark-compare-fail=mean:10%`` and ``min:5%`` say of the same graphs, timed one after the other.
``GUARD_TRIALS`` sets the number of trials.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from benchmarks.neighbour import neighbour
from guard.cost.ratio import QUADS, measured, median, slower
from guard.cost.run.clock import seconds
from guard.cost.run.quads import quads
from guard.cost.run.setting import quiet
from guard.ir.graph import Program
from guard.ir.lower.context import Context
from guard.ir.lower.walk import lower_graph
from guard.ir.rebuild.build import rebuild

if TYPE_CHECKING:
    from collections.abc import Callable

TRIALS = int(os.environ.get("GUARD_TRIALS", "200"))
MOST_ALARMS = 0.005
LEAST_CAUGHT = 0.95
NODES = 20


def chain(count: int) -> Callable[..., Any]:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(count):
            x = (x @ y).relu()
        return x

    return program


def runner(count: int) -> Callable[[], Any]:
    """A graph of ``count`` products, as bench runs it: rebuilt from its text's data."""
    x = torch.ones(128, 128) / 128
    graph = lower_graph(make_fx(chain(count))(x, x), Context("main"))[0]
    module = rebuild(Program("a::b", "t", (graph,)), graph)
    for _ in range(3):
        module(x, x)
    return lambda: module(x, x)


class Said:
    """Share of trials in which each gate failed."""

    def __init__(self, baseline: Callable[[], Any], current: Callable[[], Any], trials: int) -> None:
        self.once = self.confirmed = self.mean = self.least = 0
        self.trials = trials
        for _ in range(trials):
            if self._slower(baseline, current):
                self.once += 1
                self.confirmed += self._slower(baseline, current)
            left, right = ([seconds(call) for _ in range(2 * QUADS)] for call in (baseline, current))
            self.mean += sum(right) > 1.10 * sum(left)
            self.least += min(right) > 1.05 * min(left)

    def _slower(self, baseline: Callable[[], Any], current: Callable[[], Any]) -> bool:
        found = measured(quads(baseline, current, QUADS, seconds, lambda: None), NODES)
        return found.report_only is None and slower(found)

    def row(self, name: str) -> str:
        shares = (self.once, self.confirmed, self.mean, self.least)
        return f"{name:<12}" + "".join(f"{share / self.trials:>16.1%}" for share in shares)


def test_alarms_and_catches() -> None:
    with quiet(), torch.no_grad(), neighbour():
        baseline, again, more = runner(10), runner(10), runner(11)
        calls = [seconds(baseline) for _ in range(9)]
        same, tenth = Said(baseline, again, TRIALS), Said(baseline, more, TRIALS)
    heads = ("guard once", "guard confirmed", "mean:10%", "min:5%")
    lines = (
        f"run cost, {TRIALS} trials of {QUADS} quads, {median(calls) * 1e3:.2f} ms a call, busy neighbour",
        f"{'fails':<12}" + "".join(f"{head:>16}" for head in heads),
        same.row("A/A"),
        tenth.row("+10 %"),
    )
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert same.confirmed <= MOST_ALARMS * TRIALS
    assert tenth.confirmed >= LEAST_CAUGHT * TRIALS

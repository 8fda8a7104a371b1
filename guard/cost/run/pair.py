"""Run the graphs of a baseline against those of current: do they compute the same values, and in what time?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from guard.cost.paired import Paired
from guard.cost.ratio import QUADS, measured
from guard.cost.run.clock import clock_of
from guard.cost.run.couple import Couple, couples, why_not
from guard.cost.run.quads import quads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.ir.graph import Program


def pairs(
    baseline: Program, current: Program, count: int = QUADS, constants: Mapping[str, torch.Tensor] | None = None
) -> tuple[Paired, ...]:
    """Run each graph of current against the baseline's of its name; ``count`` quads each, 0 for values alone.

    ``constants`` are current's by digest: what the digests of both files stand for.
    """
    found = couples(baseline, current, constants)
    return tuple(one if isinstance(one, Paired) else _timed(one, count) for one in found)


def _timed(both: Couple, count: int) -> Paired:
    said = Paired(both.name, values=both.values, difference=both.difference)
    if not count:
        return said
    left, right, inputs = both.baseline, both.current, both.inputs
    try:
        both.warm_up()
        with torch.no_grad():
            clock = clock_of(left.graph.device)
            found = quads(lambda: left.module(*inputs), lambda: right.module(*inputs), count, clock, both.state.restore)
        kernels = both.kernels()
    except Exception as error:  # noqa: BLE001 - why_not has the reason
        return why_not(both.name, error)
    return replace(said, ratio=measured(found, both.nodes), kernels=kernels)

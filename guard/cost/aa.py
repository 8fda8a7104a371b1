"""What baselines compared with themselves showed: false alarms, and the smallest effect that is none. Pure data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from guard.cost.graph import program_cost
from guard.cost.ratio import TOLERANCE
from guard.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.cost.paired import Paired
    from guard.ir.graph import Program

FILE = "aa.json"
"""In the project's cache folder."""
SCHEMA = 1


@dataclass(frozen=True)
class Measured:
    """One of the three measures of cost. Its fields are the keys of the JSON."""

    measure: str
    """``graph cost``, ``trace cost``, ``run cost``."""
    compared: int
    alarms: int
    """Comparisons that would have failed a check."""
    noise: float
    """Largest difference between two measurements of the same thing, relative: 0.0003 is 0.03 %."""
    smallest: float
    """Smallest relative effect that is told from noise."""
    tolerance: float
    """That the alarms were counted with."""
    unit: str = ""
    """What the smallest effect is where there is no noise."""
    left_out: int = 0
    """Comparisons that were report-only."""

    @property
    def rate(self) -> float:
        """Of false alarms."""
        return self.alarms / self.compared if self.compared else 0.0


@dataclass(frozen=True)
class AA:
    """All of them, and where they were measured."""

    environment: Environment
    key: str
    """Of the counts: a ``guard.cost.calls.Key``'s text."""
    runs: int
    measures: tuple[Measured, ...]

    def measured(self, measure: str) -> Measured | None:
        """Return one of them."""
        return next((one for one in self.measures if one.measure == measure), None)


def counts(baseline: Sequence[int], current: Sequence[int], tolerance: float) -> Measured:
    """Compare counts of the same captures in two or more processes.

    Args:
        baseline: of one process, a count a capture.
        current: of the others, by capture, process after process.
        tolerance: a rise beyond it is an alarm.
    """
    width = len(baseline)
    rises = [(now - baseline[at % width]) / baseline[at % width] for at, now in enumerate(current)]
    noise = max((abs(rise) for rise in rises), default=0.0)
    # an effect that is as large as noise may be noise; without any, one call more is seen
    smallest = noise + 1 / min(baseline)
    alarms = sum(rise > tolerance for rise in rises)
    return Measured("trace cost", len(rises), alarms, noise, smallest, tolerance, "1 call")


def ratios(found: Sequence[tuple[Paired, bool]], tolerance: float = TOLERANCE) -> Measured:
    """Sum up graphs that were run against themselves, each with whether it was slower in a second process, too."""
    judged = [(pair.ratio.ratio, slower) for pair, slower in found if pair.ratio and pair.ratio.report_only is None]
    noise = max((abs(ratio - 1) for ratio, _ in judged), default=0.0)
    alarms = sum(slower for _, slower in judged)
    return Measured("run cost", len(judged), alarms, noise, noise, tolerance, left_out=len(found) - len(judged))


def exact(baseline: Sequence[Program], current: Sequence[Sequence[Program]]) -> Measured:
    """Compare the costs of the same captures, which are equal or not."""
    costs = [program_cost(program).total for program in baseline]
    again = [[program_cost(program).total for program in run] for run in current]
    alarms = sum(cost != wanted for run in again for cost, wanted in zip(run, costs, strict=True))
    smallest = 1 / min(cost.nodes for cost in costs)
    return Measured("graph cost", len(costs) * len(again), alarms, float(bool(alarms)), smallest, 0.0, "1 node")


def dump(found: AA) -> str:
    """Print as a file."""
    return json.dumps({"schema": SCHEMA, **asdict(found)}, indent=1, sort_keys=True) + "\n"


def parse(text: str) -> AA | None:
    """Read what dump wrote; None where it is anything else."""
    try:
        record: dict[str, Any] = json.loads(text)
        if record.pop("schema") != SCHEMA:
            return None
        measures = tuple(Measured(**one) for one in record.pop("measures"))
        return AA(environment=Environment(**record.pop("environment")), measures=measures, **record)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None

"""``guard selftest --aa N``: baselines against themselves in fresh processes: what noise is, and what is not."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from guard import verdict
from guard.baselines.disk import open_state, write_whole
from guard.commands import aa_process
from guard.commands.bench_process import measure
from guard.commands.tolerance import refuse
from guard.config import load
from guard.cost import aa
from guard.cost.aa import AA
from guard.cost.ratio import QUADS
from guard.cost.trace_compare import TOLERANCE
from guard.environment import current
from guard.errors import GuardError, UsageError
from guard.ir.parser import parse_program
from guard.report import aa as report
from guard.report.json import dump

if TYPE_CHECKING:
    from pathlib import Path

    from guard.commands.options import SelftestOptions
    from guard.config import Config
    from guard.cost.aa import Measured
    from guard.cost.paired import Paired

TIMEOUT = 300.0
"""Seconds that a pair of graphs may take, which take one."""


def compare_with_itself(options: SelftestOptions, runs: int) -> int:
    """Print a line a measure and keep what was found in the project's cache; 1 where noise would have failed a check.

    Raises:
        UsageError: the project's tolerance is tighter than the noise.
        GuardError: a process failed, or calls cannot be counted here.
    """
    config = _config()
    tolerance = TOLERANCE if config is None or config.trace_tolerance is None else config.trace_tolerance
    found = _measured(runs, tolerance, None if config is None else config.state / "cache")
    if config is not None:
        write_whole(open_state(config.state) / "cache" / aa.FILE, aa.dump(found).encode())
    code = verdict.FINDINGS if any(one.alarms for one in found.measures) else verdict.HOLD
    as_json = options.format == "json"
    print(dump({"exit_code": code, **asdict(found)}) if as_json else report.text(found), end="", flush=True)
    if config is not None and config.trace_tolerance is not None:
        refuse(config.trace_tolerance, found)
    return code


def _config() -> Config | None:
    """Outside of a project there is no cache and no tolerance."""
    try:
        return load()
    except UsageError:
        return None


def _measured(runs: int, tolerance: float, cache: Path | None) -> AA:
    _tell("capturing the baseline")
    baseline = aa_process.run(0, cache)
    others, pairs = [], []
    for number in range(1, runs + 1):
        _tell(f"run {number} of {runs}")
        others.append(aa_process.run(number, cache))
        pairs.append(_timed(baseline["timed"]))
    captures = baseline["captures"]
    calls = [one["calls"] for one in captures.values()]
    again = [other["captures"][name]["calls"] for other in others for name in captures]
    key = next(iter(captures.values()))["key"]
    measures = (_graphs(captures, others), aa.counts(calls, again, tolerance), aa.ratios(pairs))
    return AA(current(), key, runs, measures)


def _graphs(captures: dict[str, Any], others: list[dict[str, Any]]) -> Measured:
    baseline = [parse_program(one["graph"]) for one in captures.values()]
    return aa.exact(
        baseline, [[parse_program(other["captures"][name]["graph"]) for name in captures] for other in others]
    )


def _timed(graph: str) -> tuple[Paired, bool]:
    """Run a graph against itself as bench does; slower is what is so in a second process, too."""
    again = partial(measure, graph.encode(), graph.encode(), QUADS, TIMEOUT)
    first = _only(again())
    return first, first.is_slower and _only(again()).is_slower


def _only(found: tuple[Paired, ...] | str) -> Paired:
    problem = found if isinstance(found, str) else found[0].problem
    if isinstance(found, str) or problem is not None:
        raise GuardError(f"a graph of selftest --aa cannot be run: {problem}")
    return found[0]


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

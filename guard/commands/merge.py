"""``guard merge``: join the reports of a run's parts, and demand every part that was planned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines.arrived import ArrivedError, read_arrived
from guard.baselines.origin import leave_origin
from guard.commands.joined import join
from guard.commands.orphans import orphans
from guard.commands.planned import Broken, Plan, Report
from guard.commands.provenance import checked_out
from guard.commands.publish import RUN, Wanted, annotated, publish
from guard.config import load
from guard.report.read import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from guard.commands.options import MergeOptions
    from guard.config import Config
    from guard.findings import Run


def merge(options: MergeOptions) -> int:
    """Join, judge orphans, print the report, and return the exit code of the whole run."""
    wanted = Wanted(options.format, options.verbose, options.report)
    with annotated(wanted):
        return _merge(options, wanted)


def _merge(options: MergeOptions, wanted: Wanted) -> int:
    config = load()
    arrived = list(_arrived(options.reports))
    plan = Plan(options.expect, options.devices, options.not_run, config.gpu, checked_out(config.root))
    reports = [one for one in arrived if isinstance(one, Report)]
    run = join(plan, reports, [one for one in arrived if isinstance(one, Broken)])
    run = _with_orphans(config, run)
    publish(config, run, wanted)
    return verdict.exit_code(run)


def _arrived(paths: Iterable[Path]) -> Iterator[Report | Broken]:
    """Yield what each folder or zip file holds; what does not read is no reason not to look at the others."""
    for path in paths:
        try:
            files = read_arrived(path, _is_report)
        except ArrivedError as error:
            yield Broken(str(path), error.problem)
            continue
        if not files:
            yield Broken(str(path), f"there is no {RUN} in it")
        for name, data in files.items():
            yield _report(f"{path}/{name}", data)


def _is_report(name: str) -> bool:
    return name.rpartition("/")[2] == RUN


def _report(where: str, data: bytes) -> Report | Broken:
    try:
        return Report(where, read(data))
    except ValueError as error:
        return Broken(where, str(error))


def _with_orphans(config: Config, run: Run) -> Run:
    if not run.full or run.interrupted:
        return run
    found = orphans(config, run.known, run.outcomes)
    leave_origin(config, [one.check for one in found if one.pending is not None], run.commit, run.environment)
    return replace(run, outcomes=(*run.outcomes, *found))

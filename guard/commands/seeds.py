"""Compare what checks capture in fresh processes of another hash seed: a graph must not hang on the order of a set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.alarms.alarm import Alarm
from guard.errors import UsageError
from guard.session.alarms import meant

if TYPE_CHECKING:
    from guard.commands.options import CheckOptions
    from guard.config import Config
    from guard.findings import Outcome, Run

SEED = 1
"""Workers have 0."""


def elsewhere(options: CheckOptions) -> CheckOptions:
    """Return the options of the run that is compared with: it captures, and nothing more.

    Raises:
        UsageError: ``--pdb`` was given too: then there is no process but this one.
    """
    if options.pdb:
        raise UsageError('"--alarms full" and "--pdb" exclude each other', "guard check --pdb")
    return replace(options, alarms="seen", hash_seed=SEED, trace_cost="off", replay="off", exitfirst=False)


def compared(run: Run, other: Run, config: Config) -> Run:
    """Return the run with an alarm for each check that captured another graph there."""
    there = {outcome.check: outcome.graph for outcome in other.outcomes}
    outcomes = tuple(_compared(outcome, there.get(outcome.check, ""), config) for outcome in run.outcomes)
    return replace(run, outcomes=outcomes)


def _compared(outcome: Outcome, graph: str, config: Config) -> Outcome:
    if not outcome.graph or not graph or outcome.graph == graph:
        return outcome
    why = f"traced in a fresh process with PYTHONHASHSEED={SEED}, it is another graph"
    return meant(outcome, (Alarm("unstable", "", "", why),), config.alarms)

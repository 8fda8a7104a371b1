"""``guard update``: a check, then an accept of what it selected and found changed."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines.accept import Accepted, reason_of, refuse_in_ci
from guard.baselines.accept import accept as take
from guard.baselines.names import quoted
from guard.commands.accept import report
from guard.commands.run import run_checks
from guard.config import load
from guard.report import color, terminal

if TYPE_CHECKING:
    from guard.commands.options import UpdateOptions
    from guard.findings import Outcome, Run

# What a new baseline answers. A crash, a timeout or a failed test left nothing to accept; an orphan's deletion is
# asked for by name, with accept.
ANSWERED = frozenset(("missing", "drift", "trace-cost", "error", "works", "unreadable"))


def update(options: UpdateOptions) -> int:
    """Check and accept; the exit code is that of what remains, or 2 where an accept was refused."""
    refuse_in_ci(os.environ, in_ci=options.in_ci)
    config = load()
    reason = reason_of(config, options.reason)  # before the run, which takes its time
    counted = options.check.trace_cost != "off"
    # who moved it is no matter: it is settled
    asked = replace(options.check, evidence=False, trace_cost="record" if counted else "off")
    run = run_checks(config, asked)
    chosen = tuple(sorted(outcome.check for outcome in run.outcomes if answered(outcome)))
    done = Accepted() if run.interrupted else take(config, chosen, in_ci=options.in_ci, reason=reason)
    rest = settle(run, done.settled)
    painted = color.wanted(sys.stdout, os.environ)
    print(terminal.render(rest, color=painted, verbose=options.check.verbose), end="")
    report(config, replace(done, warnings=(*done.warnings, *unrecorded(run))))
    return verdict.worst(verdict.exit_code(rest), verdict.USAGE) if done.refused else verdict.exit_code(rest)


def answered(outcome: Outcome) -> bool:
    """Tell whether a new baseline answers all that was found."""
    kinds = {finding.kind for finding in (*outcome.findings, *outcome.warned)}
    # what waits without a finding is a trace cost: a new one, or a better one
    alone = outcome.counted is not None and not kinds and not outcome.ignored and outcome.skipped is None
    return outcome.pending is not None and (alone or bool(kinds & ANSWERED)) and kinds <= ANSWERED | {"fix"}


def unrecorded(run: Run) -> tuple[str, ...]:
    """Say which captures were not recorded because they are wrong."""
    return tuple(
        f"{quoted(outcome.check)} was not recorded: the graph is unfaithful, {finding.title}"
        for outcome in run.outcomes
        for finding in outcome.findings
        if finding.kind == "unfaithful"
    )


def settle(run: Run, settled: tuple[str, ...]) -> Run:
    """Return the run as it would be with the baselines that were just written."""
    taken = frozenset(settled)
    outcomes = (_settle(outcome) if outcome.check in taken else outcome for outcome in run.outcomes)
    return replace(run, outcomes=tuple(outcomes))


def _settle(outcome: Outcome) -> Outcome:
    left = tuple(finding for finding in outcome.findings if finding.kind not in ANSWERED)
    said = outcome.counted.said if outcome.counted is not None else ""
    notes = tuple(note for note in outcome.notes if note != said)
    return replace(outcome, findings=left, warned=(), ignored=(), notes=notes, pending=None)

"""``guard check``: answer from memory where nothing moved, else run. Imports no pytest before it is certain to run."""

from __future__ import annotations

import time

from guard import verdict
from guard.commands.memory import forget, remember
from guard.commands.publish import Wanted, annotated, publish
from guard.config import load
from guard.verdict import HOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from guard.commands.options import CheckOptions


def check(options: CheckOptions) -> int:
    """Check, print the report, and return the exit code."""
    wanted = Wanted(options.format, options.verbose, options.report)
    with annotated(wanted):
        return _check(options, wanted)


def _check(options: CheckOptions, wanted: Wanted) -> int:
    started = time.time_ns()
    config = load()
    memory = remember(config, options, started=started)
    run = memory.answer(options) if memory is not None else None
    if run is None:
        from guard.commands.run import run_checks

        run = run_checks(config, options, memory)
        if (memory is None or not memory.keeps) and verdict.exit_code(run) != HOLD:
            forget(config)
    publish(config, run, wanted)
    return verdict.exit_code(run)

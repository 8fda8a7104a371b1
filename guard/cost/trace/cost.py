"""The trace cost of a job that has just been captured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from guard.config import load
from guard.cost.calls import TraceCost
from guard.cost.trace.captures import EXTRA, UncountedError, counted, settled, warm
from guard.cost.trace.fitness import unfit
from guard.cost.trace.growth import growth
from guard.cost.trace.instructions import available, measured
from guard.cost.trace.key import key
from guard.cost.trace.level import level
from guard.cost.trace.names import functions
from guard.cost.trace.propagations import propagations
from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from guard.specs import Sizes
    from guard.tracers.capture import Job


def trace_cost(
    job: Job,
    *,
    fixes: str = "on",
    cache: Path | None = None,
    sizes: Sizes | None = None,
    known: Collection[int] = (),
) -> TraceCost | str:
    """Count what tracing the job does, in at most four more captures; text is why there is no count.

    Args:
        job: has been captured in this process, by ``guard.tracers.capture``: that was the first warm-up.
        fixes: "on" or "off", as that capture was.
        cache: keeps the probes' answers.
        sizes: where given, the growth is counted too, in six captures of their own.
        known: accepted calls: one capture that makes as many is enough.
    """
    return unfit() or cost(job, fixes=fixes, cache=cache, sizes=sizes, known=known)


def cost(
    job: Job,
    *,
    fixes: str = "on",
    cache: Path | None = None,
    sizes: Sizes | None = None,
    known: Collection[int] = (),
) -> TraceCost | str:
    """Count, fit or not."""
    level()
    try:
        found, taken = settled(lambda: counted(job, fixes=fixes, cache=cache), known)
        grown = None
        if sizes is not None:
            grown = growth(sizes, job.spec, lambda at: counted(at, fixes=fixes, cache=cache).tally.calls)
        return TraceCost(
            key(found.fixes),
            found.tally.calls,
            functions(found.tally.counted(), _root()),
            propagations(found.tally),
            grown,
            _instructions(job, fixes, cache) if taken < EXTRA else None,
        )
    except UncountedError as error:
        return str(error)


def _instructions(job: Job, fixes: str, cache: Path | None) -> int | None:
    """A capture of their own: the hook's instructions are none of the tracer's."""
    counter = available()
    if counter is None:
        return None
    return warm(job, fixes=fixes, cache=cache, by=lambda run: measured(run, counter))


def _root() -> Path:
    try:
        return load().root
    except UsageError:
        return Path.cwd()

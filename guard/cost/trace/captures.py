"""One counted capture of a job, prepared as ``guard.check`` prepares its own; counted until the number stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from guard.cost.trace.counter import count
from guard.tracers.capture import prepared
from guard.tracers.errors import is_capture_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from guard.cost.trace.tally import Tally
    from guard.tracers.capture import Job

T = TypeVar("T")
EXTRA = 4
"""Captures that counting may take beyond the check's own. One warm-up suffices but for symbolic and compiled ones."""


class UncountedError(Exception):
    """There is no count; the text is the reason."""


@dataclass(frozen=True)
class Counted:
    """A count and what was in force meanwhile."""

    tally: Tally
    fixes: tuple[str, ...]


def counted(job: Job, *, fixes: str, cache: Path | None) -> Counted:
    """Capture once and count what the tracer did: neither preparing nor lowering.

    Raises:
        UncountedError: the capture failed, or it took the hook away.
    """
    with prepared(job, fixes=fixes, cache=cache) as fixed:
        tally = _run(job, count)
    if tally is None:
        raise UncountedError("the program set a profiler of its own")
    return Counted(tally, fixed.names)


def warm(job: Job, *, fixes: str, cache: Path | None, by: Callable[[Callable[[], object]], int | None]) -> int | None:
    """Capture once more, measured by something else."""
    with prepared(job, fixes=fixes, cache=cache):
        return _run(job, by)


def settled(take: Callable[[], Counted], known: Collection[int] = (), most: int = EXTRA) -> tuple[Counted, int]:
    """Take counts until two in a row are equal; return the last, and how many were taken.

    ``known`` are counts that stood in other processes: the first of these that equals one stands, too.

    Raises:
        UncountedError: they were not, in ``most`` captures.
    """
    seen: list[int] = []
    for number in range(1, most + 1):
        found = take()
        seen.append(found.tally.calls)
        if seen[-1] in known or seen[-2:-1] == seen[-1:]:
            return found, number
    raise UncountedError(f"no two counts in a row are equal in {most} captures: {seen[-2]:,}, then {seen[-1]:,} calls")


def _run(job: Job, by: Callable[[Callable[[], object]], T]) -> T:
    try:
        return by(job.trace)
    except BaseException as error:
        if is_capture_error(error):
            raise UncountedError("a capture that fails has no trace cost") from error
        raise

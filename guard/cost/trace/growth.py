"""Calls at three sizes: what a check's ``sizes=`` makes is captured twice at each, and the second is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.cost.calls import Growth
from guard.cost.trace.captures import UncountedError
from guard.errors import UsageError
from guard.tracers.capture import Job

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.specs import Sizes, Tracer

WARM = 2
"""Captures a size: a growth needs no exact count, and one warm-up is within 0.1 % of it."""


def growth(sizes: Sizes, tracer: Tracer, calls: Callable[[Job], int]) -> Growth:
    """Count each size, from the smallest; ``calls`` captures a job once and counts.

    Raises:
        UncountedError: what was made for a size cannot be captured.
        UsageError: ``make`` gave something else than a program and its arguments.
    """
    first, second, third = (_at(sizes, size, tracer, calls) for size in sizes.at)
    return Growth(sizes.at, (first, second, third))


def _at(sizes: Sizes, size: int, tracer: Tracer, calls: Callable[[Job], int]) -> int:
    job = Job(tracer, *_made(sizes, size), {})
    try:
        return [calls(job) for _ in range(WARM)][-1]
    except UncountedError as error:
        raise UncountedError(f"at size {size}: {error}") from error


def _made(sizes: Sizes, size: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    try:
        made: Any = sizes.make(size)
    except Exception as error:
        said = (str(error).strip().splitlines() or [""])[0][:200]
        raise UsageError(f"Sizes: make({size}) raised {type(error).__name__}: {said}") from error
    if isinstance(made, tuple) and len(made) == 2 and callable(made[0]) and isinstance(made[1], tuple):  # noqa: PLR2004 - a pair
        return made[0], made[1]
    raise UsageError(f"Sizes: wanted make({size}) to return (program, (argument, ...)), got {type(made).__name__}")

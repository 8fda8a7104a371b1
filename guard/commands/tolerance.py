"""Refuse a tolerance that is tighter than what ``guard selftest --aa`` measured in the same environment."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from guard.cost import aa
from guard.environment import current
from guard.errors import UsageError

if TYPE_CHECKING:
    from guard.config import Config
    from guard.cost.aa import AA


def refuse_tight(config: Config) -> None:
    """Compare the project's tolerance with what is known of noise here; nothing known refuses nothing.

    Raises:
        UsageError: noise alone would fail checks.
    """
    if config.trace_tolerance is None:
        return
    found = _read(config)
    if found is not None and found.environment == current(found.environment.device):
        refuse(config.trace_tolerance, found)


def refuse(tolerance: float, found: AA) -> None:
    """Compare one tolerance with one measurement.

    Raises:
        UsageError: it is tighter.
    """
    measured = found.measured("trace cost")
    if measured is None or tolerance >= measured.noise:
        return
    wanted = ceil(measured.noise * 1e4) / 1e4
    raise UsageError(
        f"trace_tolerance: wanted at least {measured.noise:.4%}, by which counts of one trace differed in "
        f"{found.runs} runs of guard selftest --aa, got {tolerance:.4%}",
        f"trace_tolerance = {wanted:g}  # [tool.guard] of pyproject.toml",
    )


def _read(config: Config) -> AA | None:
    try:
        return aa.parse((config.state / "cache" / aa.FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return None

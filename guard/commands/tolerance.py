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
    found = None if config.trace_tolerance is None else _read(config)
    if config.trace_tolerance is not None and found is not None:
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
        f"trace_tolerance: wanted at least {100 * measured.noise:.2g} %, by which counts of one trace differed in "
        f"{found.runs} runs of guard selftest --aa, got {100 * tolerance:.2g} %",
        f"trace_tolerance = {wanted:g}  # [tool.guard] of pyproject.toml",
    )


def run_noise(config: Config) -> str | None:
    """Say that graphs differed from themselves by more than bench's tolerance, which nobody chooses; None else."""
    found = _read(config)
    measured = None if found is None else found.measured("run cost")
    if found is None or measured is None or measured.noise <= measured.tolerance:
        return None
    return (
        f"graphs differed from themselves by up to {100 * measured.noise:.2g} % in {found.runs} runs of guard selftest "
        f"--aa, which is beyond the tolerance of {100 * measured.tolerance:g} %: look twice at what is slower"
    )


def _read(config: Config) -> AA | None:
    """Return what was measured in this environment, None where nothing was."""
    try:
        found = aa.parse((config.state / "cache" / aa.FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if found is not None and found.environment == current(found.environment.device) else None

"""Has the corpus of ``guard selftest --aa`` captured and counted in a fresh process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.commands import workers
from guard.commands.child import EndedError, ask, boot
from guard.errors import GuardError

if TYPE_CHECKING:
    from pathlib import Path

_BOOT = boot("guard.commands.aa_child")


def run(seed: int, cache: Path | None) -> dict[str, Any]:
    """Capture and count the corpus in a fresh process, in an order of the seed's.

    Raises:
        GuardError: it failed, or could not count.
    """
    given = {"seed": seed, "cache": None if cache is None else str(cache.absolute())}
    try:
        found: dict[str, Any] = ask(_BOOT, given, {**workers.environment(), "PYTHONWARNINGS": "ignore"})
    except EndedError as error:
        raise GuardError(f"a process of selftest --aa {error}") from None
    problem = next((one["problem"] for one in found["captures"].values() if "problem" in one), None)
    if problem is not None:
        raise GuardError(f"calls cannot be counted here: {problem}")
    return found

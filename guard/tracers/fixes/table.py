"""All fixes at once: what a capture runs under, and what ``guard doctor`` prints. Imports no torch by itself."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from guard.config import load
from guard.errors import UsageError
from guard.tracers.fixes.fix import FIXES
from guard.tracers.fixes.probing import probed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from guard.tracers.fixes.engagement import Engagement


@dataclass(frozen=True)
class FixState:
    """How one promise of the fixed tracer stands with the installed torch."""

    name: str
    state: Literal["native", "applied", "cannot"]
    """torch keeps it, guard mends it, or neither."""
    cause: str
    evidence: str
    what: str


class Applied:
    """What is in force while the block of ``applied`` lasts; may be asked afterwards."""

    def __init__(self, notes: Mapping[str, Engagement]) -> None:
        self._notes = notes

    @property
    def names(self) -> tuple[str, ...]:
        """Fixes that are in force, engaged or not."""
        return tuple(self._notes)

    def engaged(self) -> tuple[str, ...]:
        """Fixes that did something in this block. Whether it changed the graph, only a capture without them tells."""
        return tuple(name for name, note in self._notes.items() if note.engaged)


@contextmanager
def applied(cache_dir: Path | None = None) -> Iterator[Applied]:
    """Trace under every fix that the installed torch needs and guard can give. Re-entrant."""
    verdicts = probed(cache_dir or default_cache())
    with ExitStack() as stack:
        needed = [fix for fix in FIXES if verdicts[fix.name].state == "needed"]
        yield Applied({fix.name: stack.enter_context(fix.apply()) for fix in needed})


def table(cache_dir: Path | None = None) -> tuple[FixState, ...]:
    """Return a line for each fix."""
    verdicts = probed(cache_dir or default_cache())
    return tuple(
        FixState(
            name=fix.name,
            state="applied" if (verdict := verdicts[fix.name]).state == "needed" else verdict.state,
            cause=fix.cause,
            evidence=verdict.evidence,
            what=fix.what,
        )
        for fix in FIXES
    )


def default_cache() -> Path | None:
    """Return the project's cache folder; None outside of a project."""
    try:
        return load().state / "cache"
    except UsageError:
        return None

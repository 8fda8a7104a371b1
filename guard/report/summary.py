"""The last line of a run: how many of what, in how long. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from guard.findings import HOLDS, KINDS, SKIPPED, UNCHANGED

if TYPE_CHECKING:
    from guard.findings import Run

# Status -> what one is called, and several
NOUNS = {
    HOLDS: ("holds", "hold"),
    UNCHANGED: ("unchanged since it last held", "unchanged since they last held"),
    "internal": ("internal error", "internal errors"),
    "import": ("import error", "import errors"),
    "shard": ("report not right", "reports not right"),
    "refused": ("refused", "refused"),
    "crash": ("crash", "crashes"),
    "timeout": ("timeout", "timeouts"),
    "unreadable": ("unreadable", "unreadable"),
    "error": ("error", "errors"),
    "unfaithful": ("unfaithful", "unfaithful"),
    "drift": ("drift", "drifts"),
    "alarm": ("alarm", "alarms"),
    "trace-cost": ("costs more to trace", "cost more to trace"),
    "works": ("works now", "work now"),
    "fix": ("needs a fix", "need a fix"),
    "missing": ("missing", "missing"),
    "orphan": ("orphan", "orphans"),
    "empty": ("empty", "empty"),
    "failed": ("failed", "failed"),
    SKIPPED: ("skipped", "skipped"),
}
TEN_SECONDS = 10.0
TWO_MINUTES = 120.0


def counts(run: Run) -> dict[str, int]:
    """Count outcomes by status: ``holds``, ``unchanged``, kinds from worst to best, ``skipped``; zeros left out."""
    found = Counter(outcome.status for outcome in run.outcomes)
    return {status: found[status] for status in (HOLDS, UNCHANGED, *KINDS, SKIPPED) if found[status]}


def need_fix(run: Run) -> int:
    """Count the outcomes that hold because of a fix of guard's."""
    return sum(bool(outcome.needs) and outcome.status in {HOLDS, UNCHANGED} for outcome in run.outcomes)


def warnings(run: Run) -> int:
    """Count the outcomes that hold because policy only warns."""
    return sum(bool(outcome.warned) and outcome.status == HOLDS for outcome in run.outcomes)


def ignored(run: Run) -> int:
    """Count the outcomes in which policy ignores a drift."""
    return sum(bool(outcome.ignored) for outcome in run.outcomes)


def unreplayed(run: Run) -> int:
    """Count the outcomes that hold and were to be replayed, but were not, or only in part."""
    return sum(o.replayed is not None and o.replayed.state != "replayed" and o.status == HOLDS for o in run.outcomes)


def summary(run: Run) -> str:
    """Return ``31 hold (4 need a fix), 1 drift, 1 crash in 41 s``."""
    found = counts(run)
    parts = [f"{count} {NOUNS[status][count != 1]}" for status, count in found.items()]
    needing, warned = need_fix(run), warnings(run)
    aside = [f"{needing} {NOUNS['fix'][needing != 1]}"] * bool(needing) + [f"{warned} with a warning"] * bool(warned)
    aside += [f"{unreplayed(run)} not replayed"] * bool(unreplayed(run))
    if aside:
        parts[0] += f" ({', '.join(aside)})"
    line = f"{', '.join(parts)} in {duration(run.seconds)}" if parts else f"in {duration(run.seconds)}"
    if run.shard is not None:
        line = f"shard {run.shard.number} of {run.shard.of}: {'' if parts else 'nothing in it '}{line}"
    elif not set(found) - {SKIPPED}:
        line = f"nothing was checked{': ' if parts else ' '}{line}"
    return f"interrupted: {line}" if run.interrupted else line


def duration(seconds: float) -> str:
    """Return a time in the digits that a person reads: ``0.3 s``, ``41 s``, ``2 min 5 s``."""
    if seconds < TEN_SECONDS:
        return f"{seconds:.1f} s"
    if seconds < TWO_MINUTES:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"

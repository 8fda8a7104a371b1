"""Who moved a graph: what changed since its baseline, in a line, and what follows from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from guard.environment import Environment

Cause = Literal["torch", "code", "both", ""]

SHOWN = 4
SHORT = 10  # digits of a commit: git's own choice grows with the repository, and a message should not
MOVED = {"torch": "torch moved", "code": "your code moved", "both": "both moved: torch and your code"}


@dataclass(frozen=True)
class Evidence:
    """What is known to have changed since a baseline was recorded."""

    commit: str
    """Full hash of what current is compared with: the commit that last changed the baseline."""
    now: Environment
    then: Environment | None = None
    """What the baseline was recorded in; None where no readable environment.toml says so."""
    sources: tuple[str, ...] = ()
    """Files whose code the capture ran, the check's own among them; relative to the project's root."""
    moved: tuple[str, ...] = ()
    """Those of them that differ from the commit's."""
    others: tuple[str, ...] = ()
    """Other Python files of the project that do: a trace may depend on what it did not run, such as a constant."""
    committed: bool = True
    """Whether the baseline is in the commit as it is on disk."""
    shallow: bool = False
    """Whether history ends at this commit, so that the baseline may be older."""


def verdict(evidence: Evidence) -> Cause:
    """Return who moved the graph where the evidence alone is conclusive, else "".

    Only one of the two may have moved at all. Then a difference is its doing, unless the program does not trace the
    same twice, which no evidence tells.
    """
    if evidence.then is None or evidence.shallow or not evidence.committed:
        return ""
    changed = tuple(environment_changes(evidence.then, evidence.now))
    if changed == ("torch",) and not evidence.moved and not evidence.others:
        return "torch"
    return "code" if not changed and evidence.moved else ""


def lines(evidence: Evidence, command: str) -> tuple[str, ...]:
    """Say what changed, and who moved it, or the command that finds out.

    Args:
        evidence: of one check.
        command: what the check is compared anew with, to be pasted.
    """
    by = verdict(evidence)
    changed = f"{_environment(evidence)}; {_sources(evidence)}"
    told = f"{_since(evidence)}: {changed}{f' - {MOVED[by]}' if by else ''}"
    if by:
        return (told,)
    if _nothing(evidence):
        return told, "neither moved: another package, guard itself, or a program that does not trace the same twice"
    if evidence.shallow:
        return told, "a shallow clone has no more history: git fetch --unshallow"
    return told, f"who moved it? {command}"


def environment_changes(then: Environment, now: Environment) -> Mapping[str, tuple[str, str]]:
    """Return what differs: name -> (then, now)."""
    before, after = then.as_dict(), now.as_dict()
    return {key: (value, after[key]) for key, value in before.items() if after[key] != value}


def abbreviated(commit: str) -> str:
    """Return the digits of a commit that messages print."""
    return commit[:SHORT]


def listed(names: Sequence[str], most: int = SHOWN) -> str:
    """Return the first names, and how many follow."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _since(evidence: Evidence) -> str:
    commit = abbreviated(evidence.commit)
    if not evidence.committed:
        return f"the baseline is not committed; since HEAD ({commit})"
    return f"since {commit}, where history ends" if evidence.shallow else f"since {commit}"


def _environment(evidence: Evidence) -> str:
    then, now = evidence.then, evidence.now
    if then is None:
        return f"torch {now.torch} now, then not recorded"
    changed = environment_changes(then, now)
    told = [f"{key} {before} -> {after}" for key, (before, after) in changed.items()]
    return ", ".join(told if "torch" in changed else [f"torch {now.torch} as then", *told])


def _sources(evidence: Evidence) -> str:
    total, moved, others = len(evidence.sources), evidence.moved, evidence.others
    noun = "source" if total == 1 else "sources"
    if moved:
        return f"{len(moved)} of {total} {noun} changed: {listed(moved)}"
    if not others:
        return "its source did not change" if total == 1 else f"none of {total} sources changed"
    which = "other Python file" if len(others) == 1 else "other Python files"
    return f"none of {total} {noun} changed, {len(others)} {which} did: {listed(others)}"


def _nothing(evidence: Evidence) -> bool:
    same = evidence.then is not None and not environment_changes(evidence.then, evidence.now)
    return same and evidence.committed and not (evidence.shallow or evidence.moved or evidence.others)

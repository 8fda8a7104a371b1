"""Who moved a graph: settled by what another commit's code captures under the installed torch. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.drift.cause import MOVED, abbreviated, environment_changes

if TYPE_CHECKING:
    from guard.drift.cause import Cause, Evidence


@dataclass(frozen=True)
class Trial:
    """The capture of a commit's code, R, beside the stored baseline, B, and current, C, where B and C differ."""

    ref: str
    """The commit as messages name it."""
    torch: str
    """The installed one."""
    ref_is_baseline: bool
    """R == B: under the installed torch, that code still captures what was recorded."""
    ref_is_current: bool
    """R == C: what changed in the code since did not move it."""
    same_code: bool
    """Whether that code is the code of the commit that last changed the baseline, as far as the check ran it."""


def settle(trial: Trial, evidence: Evidence | None, command: str) -> tuple[Cause, str]:
    """Return who moved the graph, and the sentence that says why.

    R == B proves that the code moved it since REF. Where R is not B, something moved it before: torch, if that code
    recorded the baseline under another torch; never torch, if the torch was this one.

    Args:
        trial: what was captured.
        evidence: of the check; None where there is none, as with --fixes off.
        command: the comparison that is conclusive, where this one is not.
    """
    if trial.ref_is_baseline:
        return "code", f"the code of {trial.ref} still captures the baseline under torch {trial.torch}: {MOVED['code']}"
    what = "captures the same" if trial.ref_is_current else "captures a third thing"
    did = f"the code of {trial.ref} {what} under torch {trial.torch}"
    changed = _environment_changes(evidence)
    if changed == ():
        since = "" if trial.ref_is_current else " and since"
        return "code", f"{did}, which recorded the baseline: your code moved, before that commit{since}"
    if evidence is None or not trial.same_code or not changed:
        also = "" if trial.ref_is_current else "; your code moved since"
        return "", f"{did}, but the baseline is not known to be of that code{also}: {command}"
    if "torch" not in changed:
        return "", f"{did}, and recorded the baseline under another {' and '.join(changed)}"
    by: Cause = "torch" if trial.ref_is_current else "both"
    return by, f"{did}, and recorded the baseline under {evidence.then.torch if evidence.then else '?'}: {MOVED[by]}"


def command(evidence: Evidence, check: str) -> str:
    """Return the comparison with the commit that last changed the baseline; ``check`` is a quoted id."""
    return f"guard check --against {abbreviated(evidence.commit)} {check}"


def _environment_changes(evidence: Evidence | None) -> tuple[str, ...] | None:
    """Return what of the environment is not as then; None where then is not known."""
    if evidence is None or evidence.then is None or evidence.shallow:
        return None
    return tuple(environment_changes(evidence.then, evidence.now))

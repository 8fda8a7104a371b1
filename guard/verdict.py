"""What a run means: policy and exit code. Pure; knows no text of reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.findings import SKIPPED, Finding

if TYPE_CHECKING:
    from typing import Literal

    from guard.findings import Outcome, Run

HOLD, FINDINGS, USAGE, INTERNAL, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 130
# Kinds whose exit code is not FINDINGS. A check that does not import is the project's set-up, not its graphs.
_CODES = {"internal": INTERNAL, "import": USAGE}
_WORST_FIRST = (INTERRUPTED, INTERNAL, USAGE, FINDINGS, NOTHING, HOLD)


def exit_code(run: Run) -> int:
    """Return the exit code of a run; the worst finding wins.

    130 interrupted; 3 internal error; 2 a check that does not import; 1 other findings; 4 nothing was checked; 0.
    """
    codes = [_CODES.get(finding.kind, FINDINGS) for outcome in run.outcomes for finding in outcome.findings]
    checked = any(outcome.status != SKIPPED for outcome in run.outcomes)
    return worst(*codes, INTERRUPTED if run.interrupted else HOLD, HOLD if checked else NOTHING)


def worst(*codes: int) -> int:
    """Return the exit code that wins."""
    return min(codes, key=_WORST_FIRST.index)


def judge_fixes(outcome: Outcome, policy: Literal["allow", "warn", "fail"]) -> Outcome:
    """Apply the policy to a capture that needs fixes: nothing, a note, or a finding."""
    if not outcome.needs or policy == "allow":
        return outcome
    text = f"needs {'a fix' if len(outcome.needs) == 1 else 'fixes'} of guard's: {', '.join(outcome.needs)}"
    if policy == "warn":
        return replace(outcome, notes=(*outcome.notes, text))
    finding = Finding(
        kind="fix",
        check=outcome.check,
        title=text,
        lines=('this torch does not trace it right by itself, and the policy is fixes = "fail"',),
        fix="guard doctor",
    )
    return replace(outcome, findings=(*outcome.findings, finding))

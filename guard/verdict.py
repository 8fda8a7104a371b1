"""What a run means: policy and exit code. Pure; knows no text of reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.findings import SKIPPED, Finding
from guard.policy import TRACE_COST, choose, decided

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from guard.findings import Outcome, Run
    from guard.policy import Rule

HOLD, FINDINGS, USAGE, INTERNAL, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 130
# Kinds whose exit code is not FINDINGS. A check that does not import is the project's set-up, not its graphs.
_CODES = {"internal": INTERNAL, "import": USAGE}
_WORST_FIRST = (INTERRUPTED, INTERNAL, USAGE, FINDINGS, NOTHING, HOLD)


def exit_code(run: Run) -> int:
    """Return the exit code of a run; the worst finding wins.

    130 interrupted; 3 internal error; 2 a check that does not import; 1 other findings; 4 nothing was checked; 0.
    One shard of several may have nothing to do: whether all of them together had is judged when they are merged.
    """
    codes = [_CODES.get(finding.kind, FINDINGS) for outcome in run.outcomes for finding in outcome.findings]
    checked = run.shard is not None or any(outcome.status != SKIPPED for outcome in run.outcomes)
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


def apply(rules: Sequence[Rule], run: Run) -> Run:
    """Apply the project's policy to the drifts of a run whose causes are known as far as they ever will be."""
    return replace(run, outcomes=tuple(judge_drifts(rules, outcome) for outcome in run.outcomes))


def judge_drifts(rules: Sequence[Rule], outcome: Outcome, *, final: bool = True) -> Outcome:
    """Move the drifts of a check that policy warns of or ignores out of its findings.

    Args:
        rules: the project's; the check's own, which it carries, come before them.
        outcome: a check's.
        final: whether ``by`` is all that will be known; else what depends on the cause stays a finding.
    """
    kept: dict[str, list[Finding]] = {"fail": [], "warn": list(outcome.warned), "ignore": list(outcome.ignored)}
    for finding in outcome.findings:
        rule = _rule((*outcome.policy, *rules), finding, final=final)
        judged = finding if rule is None else replace(finding, reason=rule.reason)
        kept["fail" if rule is None else rule.action].append(judged)
    return replace(outcome, findings=tuple(kept["fail"]), warned=tuple(kept["warn"]), ignored=tuple(kept["ignore"]))


def _rule(rules: Sequence[Rule], finding: Finding, *, final: bool) -> Rule | None:
    if finding.kind == TRACE_COST:
        return choose(rules, TRACE_COST, "")
    if finding.kind != "drift":
        return None
    return choose(rules, finding.drift, finding.by) if final else decided(rules, finding.drift)

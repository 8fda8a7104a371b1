from __future__ import annotations

import json
from dataclasses import replace

import pytest

from guard.findings import KINDS, Finding, Outcome, Run, outcome_from_json, outcome_to_json
from guard.policy import Rule, parse
from guard.verdict import apply, exit_code, judge_drifts, judge_fixes, worst


def outcome(*kinds: str, skipped: str | None = None, needs: tuple[str, ...] = ()) -> Outcome:
    findings = tuple(Finding(kind, "a::b", "title") for kind in kinds)
    return Outcome("a::b", "checks/test_a.py::test_b", findings, skipped=skipped, needs=needs)


def run(*outcomes: Outcome, interrupted: bool = False) -> Run:
    return Run(outcomes, collected=len(outcomes), interrupted=interrupted)


def test_all_hold_is_0() -> None:
    assert exit_code(run(outcome(), outcome(skipped="no GPU"))) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_code(kind: str) -> None:
    assert exit_code(run(outcome(), outcome(kind))) == {"internal": 3, "import": 2}.get(kind, 1)


@pytest.mark.parametrize("nothing", [run(), run(outcome(skipped="no GPU"))], ids=["none", "skipped"])
def test_nothing_checked_is_4(nothing: Run) -> None:
    assert exit_code(nothing) == 4


def test_worst_wins() -> None:
    assert exit_code(run(outcome("drift"), outcome("import"), outcome("internal"))) == 3
    assert exit_code(run(outcome("drift", "import"), outcome())) == 2
    assert exit_code(run(outcome(skipped="x"), outcome("orphan"))) == 1
    assert [worst(3, 2), worst(2, 1), worst(1, 4), worst(4, 0)] == [3, 2, 1, 4]


def test_interrupted_is_130_whatever_was_found() -> None:
    assert exit_code(run(outcome("internal"), interrupted=True)) == 130
    assert exit_code(run(interrupted=True)) == 130


def test_policy_on_fixes() -> None:
    needing = outcome(needs=("nested-isolation", "proxy-preservation"))
    assert judge_fixes(needing, "allow") == needing
    warned = judge_fixes(needing, "warn")
    assert (warned.status, warned.notes) == ("holds", ("needs fixes of guard's: nested-isolation, proxy-preservation",))
    failed = judge_fixes(needing, "fail")
    assert (failed.status, failed.findings[0].check, exit_code(run(failed))) == ("fix", "a::b", 1)


@pytest.mark.parametrize("policy", ["allow", "warn", "fail"])
def test_a_check_that_needs_no_fix_is_left_alone(policy: str) -> None:
    assert judge_fixes(outcome(), policy) == outcome()  # type: ignore[arg-type] # a parameter is any text


def drifts(*kinds: tuple[str, str], rules: tuple[Rule, ...] = ()) -> Outcome:
    findings = tuple(Finding("drift", "a::b", kind, drift=kind, by=by) for kind, by in kinds)
    return Outcome("a::b", "checks/test_a.py::test_b", findings, policy=rules)


def test_policy_on_drifts() -> None:
    rules = parse({"order": "warn", "type": {"by": "torch", "action": "ignore", "reason": "nightlies"}}, "here")
    found = outcome("failed", "missing")
    both = replace(drifts(("order", ""), ("type", "torch")), findings=found.findings + drifts(("order", "")).findings)
    assert [finding.kind for finding in judge_drifts(rules, both).findings] == ["failed", "missing"]
    judged = apply(rules, run(drifts(("order", ""), ("type", "torch")))).outcomes[0]
    assert (judged.status, exit_code(run(judged))) == ("holds", 0)
    assert [(finding.drift, finding.reason) for finding in judged.warned] == [("order", "")]
    assert [(finding.drift, finding.reason) for finding in judged.ignored] == [("type", "nightlies")]
    assert judge_drifts(rules, judged) == judged
    assert exit_code(apply(rules, run(drifts(("order", ""), ("type", "code"))))) == 1


def test_a_check_s_own_rules_come_first() -> None:
    project = parse({"order": "fail"}, "here")
    own = parse({"any": "warn"}, "there")
    assert judge_drifts(project, drifts(("order", ""), rules=own)).status == "holds"
    assert judge_drifts(own, drifts(("order", ""), rules=project)).status == "drift"


def test_what_depends_on_a_cause_waits_for_it() -> None:
    rules = parse({"order": "warn", "type": {"by": "torch", "action": "warn"}}, "here")
    early = judge_drifts(rules, drifts(("order", ""), ("type", "")), final=False)
    assert ([f.drift for f in early.findings], [f.drift for f in early.warned]) == (["type"], ["order"])
    known = replace(early, findings=tuple(replace(finding, by="torch") for finding in early.findings))
    assert [finding.drift for finding in judge_drifts(rules, known).warned] == ["order", "type"]


def test_a_cause_that_is_not_known_yet_is_not_unknown() -> None:
    rules = parse({"type": {"by": "unknown", "action": "warn"}}, "here")
    assert judge_drifts(rules, drifts(("type", "")), final=False).status == "drift"
    assert judge_drifts(rules, drifts(("type", ""))).status == "holds"


def test_policy_travels_as_json() -> None:
    rules = parse({"order": {"action": "ignore", "reason": "x"}}, "here")
    sent = judge_drifts(rules, drifts(("order", ""), ("type", "")))
    sent = replace(sent, policy=rules, warned=sent.findings)
    assert outcome_from_json(json.loads(json.dumps(outcome_to_json(sent)))) == sent

"""What pytest saw and what guard recorded become one outcome a check."""

from __future__ import annotations

from guard.findings import Finding, Outcome
from guard.policy import Rule
from guard.session.settle import Seen, merge, settle

NODE = "checks/test_a.py::test_b"
HOLDS = Outcome("a::b", NODE)
DRIFT = Outcome("a::b", NODE, (Finding("drift", "a::b", "+1 node"),))


def kinds(outcomes: tuple[Outcome, ...]) -> list[tuple[str, list[str]]]:
    return [(outcome.check, [finding.kind for finding in outcome.findings]) for outcome in outcomes]


def test_recorded_outcomes_stand() -> None:
    assert settle("a::b", NODE, [HOLDS], Seen("call", "passed")) == (HOLDS,)
    assert settle("a::b", NODE, [DRIFT], Seen("call", "failed", "check")) == (DRIFT,)


def test_a_test_that_checks_nothing_is_empty() -> None:
    assert kinds(settle("a::b", NODE, [], Seen("call", "passed"))) == [("a::b", ["empty"])]


def test_a_skip_keeps_its_reason() -> None:
    (outcome,) = settle("a::b", NODE, [], Seen("setup", "skipped", title="not now"))
    assert (outcome.status, outcome.skipped) == ("skipped", "not now")


def test_a_failure_is_the_last_call_s() -> None:
    named = Outcome("a::b#two", NODE)
    found = settle("a::b", NODE, [HOLDS, named], Seen("call", "failed", title="assert 1 == 2"))
    assert kinds(found) == [("a::b", []), ("a::b#two", ["failed"])]


def test_a_failure_before_any_call_is_the_test_s() -> None:
    assert kinds(settle("a::b", NODE, [], Seen("setup", "failed", title="boom"))) == [("a::b", ["failed"])]


def test_an_expected_failure_is_no_finding() -> None:
    (outcome,) = settle("a::b", NODE, [DRIFT], Seen("call", "skipped", "xfail", title="bug 7"))
    assert (outcome.status, outcome.skipped) == ("skipped", "expected to fail: bug 7")


def test_what_policy_let_pass_is_no_more_in_an_expected_failure_and_outlives_later_phases() -> None:
    judged = Outcome("a::b", NODE, warned=DRIFT.findings, ignored=DRIFT.findings, policy=(Rule("order", "warn"),))
    (expected,) = settle("a::b", NODE, [judged], Seen("call", "skipped", "xfail", title="bug 7"))
    assert (expected.warned, expected.ignored) == ((), ())
    for phases in ((judged, HOLDS), (HOLDS, judged)):
        (merged,) = merge(phases)
        assert (merged.warned, merged.ignored, merged.policy) == (judged.warned, judged.ignored, judged.policy)


def test_phases_of_a_check_merge_into_one_outcome() -> None:
    down = Outcome("a::b", NODE, (Finding("failed", "a::b", "while tearing down: boom"),), seconds=1.0)
    merged = merge([Outcome("a::b", NODE, seconds=2.0), down, Outcome("a::c", NODE)])
    assert kinds(merged) == [("a::b", ["failed"]), ("a::c", [])]
    assert merged[0].seconds == 3.0


def test_a_finding_outlives_a_skip() -> None:
    skipped = Outcome("a::b", NODE, skipped="not now")
    assert merge([skipped, DRIFT])[0].status == "drift"
    assert merge([HOLDS, skipped])[0].status == "holds"
    assert merge([skipped])[0].status == "skipped"

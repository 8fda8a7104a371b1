from __future__ import annotations

from dataclasses import replace

import pytest

from guard.drift.cause import Evidence
from guard.drift.trial import Trial, settle
from guard.environment import Environment

THEN = Environment("2.13.0", "3.11", "linux-x86_64", "cpu")
SAME = Evidence("0123456789abcdef", now=THEN, then=THEN)
BUMPED = replace(SAME, now=replace(THEN, torch="2.14.1"))
COMMAND = "guard check --against 0123456789"


def trial(*, baseline: bool = False, current: bool = False, same_code: bool = True) -> Trial:
    return Trial("main", "2.14.1", ref_is_baseline=baseline, ref_is_current=current, same_code=same_code)


CASES = [
    (trial(baseline=True), BUMPED, "code", "still captures the baseline under torch 2.14.1: your code moved"),
    (trial(baseline=True, same_code=False), None, "code", "still captures the baseline"),
    (trial(current=True), BUMPED, "torch", "recorded the baseline under 2.13.0: torch moved"),
    (trial(), BUMPED, "both", "captures a third thing under torch 2.14.1"),
    # the same torch captured two things of two codes: torch it cannot be
    (trial(current=True, same_code=False), SAME, "code", "your code moved, before that commit"),
    (trial(same_code=False), SAME, "code", "your code moved, before that commit and since"),
    # R = C says what did not move it; what did is torch, or code before REF
    (trial(current=True, same_code=False), BUMPED, "", f"not known to be of that code: {COMMAND}"),
    (trial(same_code=False), BUMPED, "", f"your code moved since: {COMMAND}"),
    (trial(current=True), None, "", COMMAND),
    (trial(current=True), replace(BUMPED, then=None), "", COMMAND),
    (trial(current=True), replace(BUMPED, shallow=True), "", COMMAND),
    (trial(current=True), replace(SAME, now=replace(THEN, python="3.12")), "", "under another python"),
]


@pytest.mark.parametrize(("given", "evidence", "by", "told"), CASES)
def test_what_a_commits_capture_settles(given: Trial, evidence: Evidence | None, by: str, told: str) -> None:
    found, said = settle(given, evidence, COMMAND)
    assert found == by
    assert said.startswith("the code of main ")
    assert told in said

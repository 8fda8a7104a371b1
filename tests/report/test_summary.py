from __future__ import annotations

import pytest

from guard.findings import HOLDS, KINDS, SKIPPED, UNCHANGED, Finding, Outcome, Run, Shard
from guard.report.summary import NOUNS, counts, duration, summary


def outcomes(kind: str, count: int, needs: tuple[str, ...] = ()) -> tuple[Outcome, ...]:
    findings = () if kind in (HOLDS, SKIPPED) else (Finding(kind, "a::b", "t"),)
    return (Outcome("a::b", "n", findings, needs=needs, skipped="why" if kind == SKIPPED else None),) * count


def test_the_line_of_the_readme() -> None:
    many = outcomes("crash", 1) + outcomes(HOLDS, 27) + outcomes("drift", 1) + outcomes(HOLDS, 4, needs=("x",))
    assert summary(Run(many, seconds=41.4)) == "31 hold (4 need a fix), 1 crash, 1 drift in 41 s"


def test_one_of_each() -> None:
    everything = [one for kind in (SKIPPED, *reversed(KINDS)) for one in outcomes(kind, 1)]
    line = summary(Run((*everything, *outcomes(HOLDS, 1, needs=("x",))), seconds=1))
    assert line == (
        "1 holds (1 needs a fix), 1 internal error, 1 import error, 1 report not right, 1 refused, 1 crash, "
        "1 timeout, 1 unreadable, 1 error, 1 unfaithful, 1 drift, 1 alarm, 1 costs more to trace, 1 works now, "
        "1 needs a fix, 1 missing, 1 orphan, 1 empty, 1 failed, 1 skipped in 1.0 s"
    )


def test_several_of_each() -> None:
    everything = tuple(one for kind in (*KINDS, SKIPPED) for one in outcomes(kind, 2))
    assert summary(Run(everything, seconds=1)) == (
        "2 internal errors, 2 import errors, 2 reports not right, 2 refused, 2 crashes, "
        "2 timeouts, 2 unreadable, 2 errors, 2 unfaithful, 2 drifts, 2 alarms, 2 cost more to trace, 2 work now, "
        "2 need a fix, 2 missing, 2 orphans, 2 empty, 2 failed, 2 skipped in 1.0 s"
    )


def test_every_status_has_its_nouns_and_its_place() -> None:
    assert list(NOUNS) == [HOLDS, UNCHANGED, *KINDS, SKIPPED]


def test_a_fix_that_did_not_make_it_hold_is_not_counted() -> None:
    assert summary(Run(outcomes("drift", 1, needs=("x",)), seconds=1)) == "1 drift in 1.0 s"


def test_nothing_and_interrupted() -> None:
    assert summary(Run()) == "nothing was checked in 0.0 s"
    assert summary(Run(outcomes(SKIPPED, 3), seconds=2)) == "nothing was checked: 3 skipped in 2.0 s"
    assert summary(Run(outcomes(HOLDS, 3), seconds=2, interrupted=True)) == "interrupted: 3 hold in 2.0 s"


def test_what_did_not_run_is_said_to_be_unchanged() -> None:
    still = Outcome("a::b", "n", needs=("x",), unchanged=True)
    line = summary(Run((still, *outcomes(HOLDS, 2), Outcome("a::c", "n", skipped="why", unchanged=True))))
    assert line == "2 hold (1 needs a fix), 1 unchanged since it last held, 1 skipped in 0.0 s"


def test_a_shard_says_which_it_is_and_may_be_empty() -> None:
    assert summary(Run(outcomes(HOLDS, 3), shard=Shard(2, 8), seconds=2)) == "shard 2 of 8: 3 hold in 2.0 s"
    assert summary(Run(shard=Shard(2, 8), seconds=2)) == "shard 2 of 8: nothing in it in 2.0 s"


def test_counts_leave_zeros_out_in_order() -> None:
    found = counts(Run(outcomes(SKIPPED, 1) + outcomes("drift", 2) + outcomes("crash", 1) + outcomes(HOLDS, 3)))
    assert list(found.items()) == [("holds", 3), ("crash", 1), ("drift", 2), ("skipped", 1)]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (10.0, "10 s"), (41.4, "41 s"), (125, "2 min 5 s"), (3600, "60 min 0 s")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text

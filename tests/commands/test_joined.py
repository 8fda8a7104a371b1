"""What arrived, held against what was planned: every way of not being the same run is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from guard.commands.joined import join
from guard.commands.planned import Broken, Plan, Report
from guard.findings import Finding, Outcome, Run, Shard
from guard.verdict import exit_code

COMMIT, OTHER = "a" * 40, "b" * 40
CHECKS = ("it::a", "it::b", "it::c", "it::d")
CPU = {"torch": "2.13.0", "python": "3.11", "platform": "linux-x86_64", "device": "cpu"}


def holds(check: str) -> Outcome:
    return Outcome(check, f"checks/test_it.py::test_{check[4:]}", seconds=1.0)


def part(number: int, *checks: str, of: int = 2, **changes: Any) -> Report:
    """Return a report as ``guard check --shard`` writes it."""
    shard = Shard(number, of, "d" * 64, complete=True)
    run = Run(
        tuple(map(holds, checks)), float(number), collected=len(checks), environment=CPU, known=CHECKS, selected=checks
    )
    run = replace(run, shard=shard, commit=COMMIT)
    return Report(f"r{number}/run.json", replace(run, **changes))


def whole(device: str = "cpu", **changes: Any) -> Report:
    run = Run(tuple(map(holds, CHECKS)), 9.0, full=True, environment=CPU | {"device": device}, known=CHECKS)
    return Report(f"{device}/run.json", replace(run, selected=CHECKS, commit=COMMIT, **changes))


ONE, TWO = part(1, "it::a", "it::b"), part(2, "it::c", "it::d")


def wrong(run: Run) -> list[str]:
    found = [one for outcome in run.outcomes for one in outcome.findings if one.kind == "shard"]
    return [f"{one.check}: {one.title}" for one in found]


def joined(*reports: Report, expect: int = 2, **plan: Any) -> Run:
    return join(Plan(expect, **{"commit": COMMIT, **plan}), reports)


def with_shard(report: Report, **changes: Any) -> Report:
    return report._replace(run=replace(report.run, shard=replace(report.shard, **changes)))


def with_run(report: Report, **changes: Any) -> Report:
    return report._replace(run=replace(report.run, **changes))


def test_the_parts_make_up_the_whole() -> None:
    run = joined(TWO, ONE)
    assert wrong(run) == []
    assert [outcome.check for outcome in run.outcomes] == list(CHECKS)
    assert (run.full, run.shard, run.collected, run.seconds, run.commit) == (True, None, 4, 2.0, COMMIT)
    assert (run.known, run.selected) == (CHECKS, CHECKS)
    assert exit_code(run) == 0


def test_a_whole_run_is_one_shard_of_one() -> None:
    assert wrong(joined(whole(), expect=1)) == []
    assert wrong(joined(whole(), expect=2)) == ["cpu/run.json: is shard 1 of 1: wanted one of 2", *missing(2)]


def missing(*numbers: int, of: int = 2) -> list[str]:
    return [f"{number}/{of}: this shard did not arrive" for number in numbers]


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        ((), missing(1, 2)),
        ((ONE,), missing(2)),
        ((ONE, TWO, TWO._replace(where="r3")), ['r3: is shard 2 of 2 again: "r2/run.json" is, too']),
        ((ONE, with_run(TWO, commit=OTHER)), ["r2/run.json: is of another commit: wanted aaaaaaaaaa, got bbbbbbbbbb"]),
        ((ONE, with_run(TWO, commit="")), ["r2/run.json: is of another commit: wanted aaaaaaaaaa, got none"]),
        ((ONE, with_shard(TWO, of=3)), ["r2/run.json: is shard 2 of 3: wanted one of 2"]),
        ((ONE, with_shard(TWO, number=3)), ["r2/run.json: is shard 3 of 2: wanted one of 2", *missing(2)]),
        (
            (ONE, with_shard(TWO, durations="")),
            ['r2/run.json: was split by other durations than "r1/run.json": give every shard the same file'],
        ),
        (
            (ONE, with_run(TWO, known=(*CHECKS, "it::e"))),
            ['r2/run.json: collected other checks than "r1/run.json": "it::e"'],
        ),
        (
            (ONE, with_run(TWO, environment=CPU | {"torch": "2.14.1"})),
            ['r2/run.json: ran in another environment than "r1/run.json": torch 2.14.1; wanted torch 2.13.0'],
        ),
        (
            (ONE, with_shard(TWO, left_out=("it::d",))),
            ['r2/run.json: ran with another -k, -m or ids than "r1/run.json"'],
        ),
        ((ONE, with_run(TWO, selected=("it::c",))), ['1..2: no shard ran "it::d"']),
        ((ONE, with_run(TWO, selected=("it::c", "it::d", "it::a"))), ['1..2: more than one shard ran "it::a"']),
    ],
)
def test_what_is_not_as_planned_is_named_and_fails(reports: tuple[Report, ...], said: list[str]) -> None:
    run = joined(*reports)
    assert wrong(run) == said
    assert exit_code(run) == 1
    assert not run.full


def test_what_is_foreign_is_not_joined() -> None:
    bad = replace(holds("it::c"), findings=(Finding("crash", "it::c", "SIGSEGV"),))
    run = joined(ONE, with_run(TWO, commit=OTHER, outcomes=(bad,)))
    assert [outcome.check for outcome in run.outcomes if outcome.check] == ["it::a", "it::b"]


def test_a_report_that_does_not_read_is_named() -> None:
    run = join(Plan(2, commit=COMMIT), (ONE, TWO), (Broken("x/run.json", "it is no JSON"),))
    assert wrong(run) == ["x/run.json: does not read: it is no JSON"]
    assert exit_code(run) == 1


def test_where_no_commit_is_known_the_reports_must_agree() -> None:
    assert wrong(joined(ONE, TWO, commit="")) == []
    assert len(wrong(joined(ONE, with_run(TWO, commit=OTHER), commit=""))) == 1


def test_the_worst_exit_code_of_all_parts_wins() -> None:
    broken = replace(holds("it::c"), findings=(Finding("internal", "it::c", "x"),))
    assert exit_code(joined(ONE, with_run(TWO, outcomes=(broken,)))) == 3
    assert exit_code(joined(ONE, with_run(TWO, interrupted=True))) == 130
    assert exit_code(joined(ONE, TWO, whole("cuda", interrupted=True))) == 130


def test_all_parts_together_must_have_checked_something() -> None:
    nothing = [with_run(one, outcomes=(), known=(), selected=()) for one in (ONE, TWO)]
    assert exit_code(joined(*nothing)) == 4
    skipped = [
        with_run(one, outcomes=tuple(replace(out, skipped="no GPU") for out in one.run.outcomes)) for one in (ONE, TWO)
    ]
    assert exit_code(joined(*skipped)) == 4
    empty = part(2)
    assert exit_code(joined(part(1, *CHECKS), empty)) == 0


def test_a_part_that_was_cut_short_leaves_orphans_unjudged() -> None:
    assert not joined(ONE, with_shard(TWO, complete=False)).full


def test_what_every_part_saw_is_said_once() -> None:
    lost = Outcome("", "checks/test_bad.py", (Finding("import", "checks/test_bad.py", "SyntaxError"),))
    run = joined(*(with_run(one, outcomes=(*one.run.outcomes, lost), notes=("n",)) for one in (ONE, TWO)))
    assert [outcome.nodeid for outcome in run.outcomes].count("checks/test_bad.py") == 1
    assert (run.notes, exit_code(run)) == (("n",), 2)


def test_a_device_stands_beside_and_says_where_it_was() -> None:
    drift = replace(holds("it::a"), findings=(Finding("drift", "it::a", "+1 node"),))
    run = joined(ONE, TWO, whole("cuda:0", outcomes=(drift,)), devices=("cuda",))
    (found,) = [outcome for outcome in run.outcomes if outcome.device]
    assert (found.device, found.findings[0].title) == ("cuda", "+1 node, on cuda")
    assert run.full
    assert "cuda: 1 drift in 9.0 s" in run.notes
    assert exit_code(run) == 1


def test_a_device_that_was_planned_and_did_not_arrive_fails() -> None:
    run = joined(ONE, TWO, devices=("cuda",))
    assert wrong(run) == ["cuda: this device's report was planned and did not arrive"]
    halves = [with_run(one, environment=CPU | {"device": "cuda"}) for one in (ONE,)]
    assert wrong(joined(ONE, TWO, *halves, devices=("cuda",))) == ["2/2: this shard of cuda did not arrive"]


def test_everything_on_one_other_device_is_the_run() -> None:
    cuda = [with_run(one, environment=CPU | {"device": "cuda"}) for one in (ONE, TWO)]
    run = joined(*cuda)
    assert (wrong(run), {outcome.device for outcome in run.outcomes}) == ([], {""})


@pytest.mark.parametrize(
    ("policy", "reason", "fails"),
    [
        ("optional", "fork", False),
        ("optional", "no runner", False),
        ("unless-fork", "fork", False),
        ("unless-fork", "no runner", True),
        ("unless-fork", None, True),
        ("required", "fork", True),
        ("required", None, True),
        ("optional", None, False),
    ],
)
def test_policy_decides_whether_a_gpu_may_be_left_out(policy: str, reason: str | None, fails: bool) -> None:  # noqa: FBT001 - a row of the table above
    run = joined(ONE, TWO, gpu=policy, not_run=(("gpu", reason),) if reason else ())
    said = f"gpu: not run ({reason or 'nobody planned it'})"
    assert (exit_code(run) == 1) is fails
    assert (said in run.notes) is (not fails and reason is not None)
    assert bool(wrong(run)) is fails
    assert all(line == f'{said}, and the policy is gpu = "{policy}"' for line in wrong(run))


def test_a_gpu_that_ran_is_not_said_to_be_left_out() -> None:
    run = joined(ONE, TWO, whole("cuda"), gpu="required", not_run=(("gpu", "fork"),))
    assert (wrong(run), [note for note in run.notes if "not run" in note]) == ([], [])

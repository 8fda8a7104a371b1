"""What a run makes of a graph that is not what its program computes: nothing records it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.project import Project, empty_project

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = """
def right(): return ["aten.sin.default"]
def wrong(): return ["aten.cos.default"]
wrong.unfaithful = "output 0"

def test_right(guard): guard.check(right, tracer=None)
def test_wrong(guard): guard.check(wrong, tracer=None)
"""
OPTED_OUT = CHECKS.replace("guard.check(wrong, ", 'guard.check(wrong, replay="kernel is not here", ')
TITLE = 'unfaithful: "it::wrong" - output 0 differs from eager on fresh inputs\n  [0]: wanted 1.0, got 2.0\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = empty_project(tmp_path)
    made.checks(CHECKS)
    return made


def outcomes(project: Project, *flags: str) -> dict[str, Any]:
    ran = project.guard("check", "--format", "json", *flags)
    return {outcome["check"]: outcome for outcome in json.loads(ran.stdout)["outcomes"]}


def test_update_refuses_what_is_unfaithful(project: Project) -> None:
    ran = project.guard("update")
    assert ran.returncode == 1
    assert TITLE in ran.stdout
    wanted = (
        'warning: "it::wrong" was not recorded: the graph is unfaithful, output 0 differs from eager on fresh inputs'
    )
    assert wanted in ran.stderr
    assert [path.name for path in (project.root / "baselines").rglob("*.graph")] == ["right.graph"]


def test_accept_refuses_what_is_unfaithful(project: Project) -> None:
    assert project.guard("check").returncode == 1
    ran = project.guard("accept", "--all")
    assert ran.returncode == 2
    reason = "the graph is unfaithful, output 0 differs from eager on fresh inputs; [0]: wanted 1.0, got 2.0"
    assert f'refused: "it::wrong": {reason}; run: guard check "it::wrong"' in ran.stderr
    assert 'accepted: "it::right"' in ran.stdout


def test_a_baseline_that_was_wrong_when_it_was_recorded(project: Project) -> None:
    """It holds, and fails all the same; no replay, no verdict; in CI there is no run without."""
    assert project.guard("update", "--no-replay").returncode == 0
    assert outcomes(project, "--no-replay")["it::wrong"]["status"] == "holds"
    ran = project.guard("check")
    assert ran.returncode == 1
    assert TITLE in ran.stdout
    assert "1 holds, 1 unfaithful" in ran.stdout
    assert not project.pending()
    project.environment = {"CI": "true"}
    assert project.guard("check", "--no-replay").returncode == 1


def test_what_json_says(project: Project) -> None:
    found = outcomes(project)
    assert found["it::wrong"]["status"] == "unfaithful"
    assert found["it::wrong"]["replayed"] == {
        "state": "unfaithful",
        "on": ["example", "fresh"],
        "reason": "output 0 differs from eager on fresh inputs",
        "lines": ["[0]: wanted 1.0, got 2.0"],
    }
    wanted = {"state": "replayed", "on": ["example", "fresh"], "reason": "", "lines": []}
    assert found["it::right"]["replayed"] == wanted
    assert outcomes(project, "--no-replay")["it::wrong"]["replayed"] is None


def test_opting_out_needs_a_reason(project: Project) -> None:
    project.checks(OPTED_OUT)
    assert project.guard("update").returncode == 0
    ran = project.guard("check", "-v", "--no-cache")
    assert 'holds: "it::wrong", not replayed: kernel is not here in ' in ran.stdout
    assert "2 hold (1 not replayed)" in ran.stdout
    project.checks(OPTED_OUT.replace('"kernel is not here"', "False"))
    ran = project.guard("check")
    assert ran.returncode == 1
    assert 'guard.check: wanted replay="why it is off", got False' in ran.stdout


def test_graph_of_the_users_without_its_program(project: Project) -> None:
    project.checks('def test_it(guard): guard.check_graph(["aten.sin.default"])')
    ran = project.guard("update", "-v")
    assert ran.returncode == 0
    assert "not replayed: check_graph was not told the program: eager=program, inputs=(x,)" in ran.stdout

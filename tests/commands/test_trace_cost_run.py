"""``guard check`` counts, judges and keeps trace costs; one run over one project shows what becomes of each."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from guard.baselines.costs import parse
from tests.project import Project, empty_project

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = """
import os
from guard import Sizes

MORE = "MORE" in os.environ

def program(cost, *ops):
    def run(): return list(ops or ["aten.sin.default"])
    run.cost = cost
    return run

def calls(was, now): return program(now if MORE else was)

def test_same(guard): guard.check(calls(1000, 1009), tracer=None)
def test_worse(guard):
    more = {"calls": 1050, "functions": (("a.py:f", 350),)}
    guard.check(program(more if MORE else {"calls": 1000, "functions": (("a.py:f", 300),)}), tracer=None)
    guard.check(calls(10, 10), tracer=None, name="after")
def test_better(guard): guard.check(calls(1000, 900), tracer=None)
def test_wide(guard): guard.check(calls(1000, 1050), tracer=None, trace_tolerance=0.1)
def test_warned(guard): guard.check(calls(1000, 1050), tracer=None, policy={"trace-cost": "warn"})
def test_kept(guard): guard.check(calls(1000, 1050), tracer=None, keep=("signature",))
def test_drifted(guard):
    moved = program(1050, "aten.sin.default", "aten.cos.default") if MORE else program(1000)
    guard.check(moved, tracer=None)
def test_drift_passes(guard):
    moved = program(1050, "aten.sin.default", "aten.cos.default") if MORE else program(1000)
    guard.check(moved, tracer=None, policy={"any": "warn"})
def test_grows(guard):
    guard.check(calls(1000, 1000), tracer=None, sizes=Sizes(lambda n: (calls, (n * n if MORE else 5 * n,))))
def test_uncached(guard):
    guard.check(program({"calls": 1000, "propagations": 3 if MORE else 0}), tracer=None)
def test_off(guard): guard.check(calls(1000, 1050), tracer=None, trace_cost=False)
def test_unstable(guard): guard.check(program("no two counts are equal"), tracer=None)
def test_lost(guard): guard.check(calls(1000, "coverage is tracing"), tracer=None)
def test_fails(guard): guard.check(program(1000, "fails: x"), tracer=None)
def test_given(guard): guard.check_graph(["aten.sin.default"])
"""
OFF = {"it::off", "it::unstable", "it::lost", "it::fails", "it::given"}
KEY = "torch 2.13.0 git-1, python {}, linux-x86_64, fixes none"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = empty_project(tmp_path_factory.mktemp("trace") / "project")
    made.checks(CHECKS)
    return made.record()


@pytest.fixture
def project(recorded: Path, tmp_path: Path) -> Project:
    shutil.copytree(recorded, tmp_path / "project")
    return Project(tmp_path / "project")


def costlier(project: Project) -> Project:
    return replace(project, environment={"MORE": "1"})


def outcomes(project: Project, *flags: str) -> dict[str, dict[str, Any]]:
    ran = project.guard("check", "--no-cache", "--format", "json", *flags)
    return {outcome["check"]: outcome for outcome in json.loads(ran.stdout)["outcomes"]}


def titles(outcome: dict[str, Any], which: str = "findings") -> list[str]:
    return [f"{finding['kind']}: {finding['title']}" for finding in outcome[which]]


def files(project: Project) -> dict[str, bytes]:
    folder = project.root / "baselines"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def calls(project: Project, check: str, python: str = "3.11") -> int:
    return parse((project.root / f"baselines/it/{check}.cost.json").read_bytes())[KEY.format(python)].calls


WORSE = "+5.0 %: 1,050 calls, was 1,000 (tolerance 1 %)"


def test_each_is_judged_as_what_it_is(project: Project) -> None:
    before = files(project)
    found = outcomes(costlier(project))

    assert {check for check, one in found.items() if (one["counted"] or {}).get("calls") is None} == OFF
    assert [found[f"it::{name}"]["counted"]["state"] for name in ("unstable", "lost")] == ["none", "lost"]
    assert found["it::unstable"]["counted"]["said"] == "no two counts are equal"
    holding = {"it::same", "it::wide", "it::warned", "it::better", "it::worse#after", *OFF}
    assert {check for check, one in found.items() if one["status"] == "holds"} == holding

    (finding,) = found["it::worse"]["findings"]
    assert (finding["kind"], finding["title"]) == ("trace-cost", WORSE)
    assert finding["lines"] == ["+50 a.py:f  300 -> 350"]
    assert (finding["fix"], finding["source"]) == ('guard accept "it::worse"', "checks/test_it.py:14")
    assert titles(found["it::warned"], "warned") == titles(found["it::kept"]) == [f"trace-cost: {WORSE}"]

    # the trace cost of a drift that fails is a line of it, of one that passes a finding of its own
    (drift,) = found["it::drifted"]["findings"]
    assert drift["kind"] == "drift"
    assert f"costs more to trace: {WORSE}" in drift["cost"]
    assert titles(found["it::drift_passes"]) == [f"trace-cost: {WORSE}"]
    assert [finding["kind"] for finding in found["it::drift_passes"]["warned"]] == ["drift"]

    assert titles(found["it::grows"]) == ["trace-cost: grows as n^2.00, was as n^1.00: quadratic"]
    assert titles(found["it::uncached"]) == ["trace-cost: 3 sharding propagations that no cache answered, was 0"]
    assert found["it::better"]["notes"] == [
        'cheaper to trace, -10.0 %: 900 calls, was 1,000 (tolerance 1 %); to keep it: guard accept "it::better"'
    ]
    assert found["it::better"]["pending"] == ".guard/pending/it/better.cost.json"
    assert files(project) == before


def test_an_update_takes_what_moved_and_rewrites_nothing_else(project: Project) -> None:
    before = files(project)
    ran = costlier(project).guard("update")
    assert ran.returncode == 0, ran.stdout
    assert "cheaper" not in ran.stdout
    after = files(project)
    moved = {name for name, data in after.items() if before.get(name) != data}
    costly = ("worse", "better", "warned", "kept", "drifted", "drift_passes", "grows", "uncached")
    costs = {f"it/{name}.cost.json" for name in costly}
    assert moved == costs | {"it/drifted.graph", "it/drift_passes.graph"}
    assert (calls(project, "same"), calls(project, "better"), calls(project, "grows")) == (1000, 900, 1000)
    assert {one["status"] for one in outcomes(costlier(project)).values()} == {"holds"}


def test_another_environment_is_not_comparable_and_has_a_section_of_its_own(project: Project) -> None:
    other = replace(project, environment={"FAKE_PYTHON": "3.12"})
    ran = other.guard("check", "--no-cache")
    assert ran.returncode == 0
    note = "note: the trace costs of 12 checks were accepted in another environment, and not comparable here"
    assert note in ran.stdout
    before = files(project)
    assert other.guard("update").returncode == 0
    after = files(project)
    assert {name for name, data in after.items() if before[name] != data} == {
        name for name in before if name.endswith(".cost.json")
    }
    assert (calls(project, "worse"), calls(project, "worse", "3.12")) == (1000, 1000)
    assert "another environment" not in other.guard("check", "--no-cache").stdout


def test_baselines_without_a_cost_get_one_by_update_alone(project: Project) -> None:
    graph = project.root / "baselines/it/same.graph"
    graph.write_text(graph.read_text().replace("%x", "%renamed"))  # equal, but for a name
    for path in (project.root / "baselines").rglob("*.cost.json"):
        path.unlink()
    before = files(project)
    ran = project.guard("check", "--no-cache")
    assert ran.returncode == 0
    assert "note: the trace costs of 12 checks were not accepted yet; to record: guard update" in ran.stdout
    assert project.pending() == []
    assert project.guard("update").returncode == 0
    assert {name: data for name, data in files(project).items() if name in before} == before
    assert calls(project, "same") == 1000


def test_nothing_is_counted_where_it_would_mean_nothing(project: Project) -> None:
    for flags in (("--no-trace-cost",), ("--fixes", "off")):
        found = outcomes(costlier(project), *flags)
        assert not any((one["counted"] or {}).get("calls") for one in found.values())
        assert found["it::worse"]["status"] == "holds"
    bare = costlier(project).pytest("checks", "-k", "worse")
    assert bare.returncode == 0, bare.stdout
    project.write("pyproject.toml", "[tool.guard]\nworkers = 1\ntrace_cost = false\n")
    assert outcomes(costlier(project), "-k", "worse")["it::worse"]["counted"] is None


def test_an_accepted_cost_that_cannot_be_counted_is_said(project: Project) -> None:
    said = costlier(project).guard("check", "--no-cache", "-v", "it::lost", "it::unstable").stdout
    assert "note: the trace cost of 1 check was accepted, and could not be counted; to see why: guard check -v" in said
    assert 'holds: "it::lost"' in said
    assert "no trace cost: coverage is tracing" in said


def test_the_project_s_words(project: Project) -> None:
    project.write(
        "pyproject.toml",
        '[tool.guard]\nworkers = 1\ntrace_tolerance = 0.2\n[tool.guard.policy]\ntrace-cost = "warn"\n',
    )
    found = outcomes(costlier(project), "it::worse", "it::uncached")
    assert (found["it::worse"]["counted"]["state"], found["it::worse"]["status"]) == ("holds", "holds")
    assert (found["it::uncached"]["status"], len(found["it::uncached"]["warned"])) == ("holds", 1)


def test_a_conflict_in_the_file_is_a_finding_with_its_line(project: Project) -> None:
    path = project.root / "baselines/it/worse.cost.json"
    path.write_text(path.read_text().replace('   "calls"', '<<<<<<< HEAD\n   "calls"'))
    ran = project.guard("check", "--no-cache", "it::worse")
    assert ran.returncode == 1
    assert 'unreadable: "it::worse" - its trace cost does not parse: a conflict of git\'s is not resolved' in ran.stdout
    assert "baselines/it/worse.cost.json:6" in ran.stdout
    assert project.guard("accept", "it::worse").returncode == 0
    assert calls(project, "worse") == 1000


def test_review_and_list_know_a_cost_that_waits(project: Project) -> None:
    assert outcomes(costlier(project), "it::worse")["it::worse"]["status"] == "trace-cost"
    said = project.guard("review", "--list").stdout
    assert said.startswith(f'trace-cost: "it::worse" - {WORSE}\n  +50 a.py:f  300 -> 350\n')
    listed = '"it::worse"  baseline, trace cost, pending: trace cost\n'
    assert project.guard("list", "it::worse").stdout == listed
    assert '"calls": 1050' in project.guard("show", "it::worse", "--pending").stdout
    assert "trace calls 1,000, tolerance 1 %, under torch" in project.guard("show", "it::worse", "--cost").stdout
    # a run that counts again and finds nothing drops it; bare pytest, which does not count, leaves it
    assert project.pytest("checks", "-k", "worse").returncode == 0
    assert "pending" in project.guard("list", "it::worse").stdout
    assert outcomes(project, "it::worse")["it::worse"]["status"] == "holds"
    assert "pending" not in project.guard("list", "it::worse").stdout


def test_a_cost_whose_check_is_gone_is_an_orphan(project: Project) -> None:
    assert os.path.lexists(project.root / "baselines/it/same.cost.json")
    project.checks(CHECKS.replace("def test_same(", "def unused("))
    (project.root / "baselines/it/same.graph").unlink()
    found = outcomes(project)
    assert found["it::same"]["status"] == "orphan"
    assert project.guard("accept", "it::same").returncode == 0
    assert "it/same.cost.json" not in files(project)


def test_what_a_check_says_wrongly_is_refused(tmp_path: Path) -> None:
    made = empty_project(tmp_path)
    made.checks("""
        ops = lambda: ["aten.sin.default"]
        def test_a(guard): guard.check(ops, tracer=None, trace_tolerance=2)
        def test_b(guard): guard.check(ops, tracer=None, trace_cost="yes")
        def test_c(guard): guard.check(ops, tracer=None, sizes=(8, 16, 32))
        def test_d(guard): guard.check(ops, tracer=None, policy={"trace-cost": {"by": "torch", "action": "warn"}})
    """)
    found = outcomes(made)
    assert {check: titles(one)[0].partition("wanted")[0] for check, one in found.items()} == {
        "it::a": "refused: guard.check: ",
        "it::b": "refused: guard.check: ",
        "it::c": "refused: guard.check: ",
        "it::d": 'refused: "trace-cost" in policy= of guard.check: counts are compared under one torch only, '
        'so it has no "by"',
    }

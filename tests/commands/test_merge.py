"""Shards, their reports, and guard merge, as jobs run them: separate processes that share a commit and no disk."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from guard.commands.publish import RUN, SARIF, SUMMARY
from guard.report.read import read
from guard.session.shards import share
from tests.project import Project, empty_project
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from pathlib import Path

ODD = ("pipe|d", "tick`s", "rtl-\u05d0\u05d1", "@everyone", "https://x.example", "a,b", "::error::x", "<b>")
CHECKS = f"""
import pytest
from model import ops
@pytest.mark.parametrize("p", [pytest.param(0, id=name) for name in {ODD!r}])
def test_p(guard, p): guard.check(ops, tracer=None)
def test_one(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)
"""
NUMBER = len(ODD) + 1


@pytest.fixture(scope="session")
def sharded_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = empty_project(tmp_path_factory.mktemp("sharded") / "project")
    made.write("pyproject.toml", '[tool.guard]\nworkers = 1\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n')
    made.write(".gitignore", "__pycache__/\n.guard/\n.pytest_cache/\nreport*/\n")
    made.write("model.py", 'def ops(): return ["aten.cos.default"]\n')
    made.checks(CHECKS)
    repository(made.record()).commit("first")
    return made.root


@pytest.fixture
def sharded(sharded_template: Path, tmp_path: Path) -> Project:
    """A committed project of nine checks, in a copy."""
    shutil.copytree(sharded_template, tmp_path / "project")
    return Project(tmp_path / "project", {"GIT_CEILING_DIRECTORIES": str(tmp_path)})


def shards(project: Project, of: int, *arguments: str, codes: tuple[int, ...] = (0,)) -> list[dict[str, Any]]:
    """Run every shard and return what their reports say."""
    for number in range(1, of + 1):
        ran = project.guard("check", "--shard", f"{number}/{of}", "--report", f"reports/{number}", *arguments)
        assert ran.returncode in codes, ran.stdout + ran.stderr
    return [record(project, f"reports/{number}") for number in range(1, of + 1)]


def record(project: Project, folder: str) -> dict[str, Any]:
    data = (project.root / folder / RUN).read_bytes()
    read(data)  # it has the shape that the schema asks for
    found: dict[str, Any] = json.loads(data)
    return found


def test_every_check_runs_in_one_shard_and_the_merge_is_the_run(sharded: Project) -> None:
    parts = shards(sharded, 3)
    ran = [outcome["check"] for part in parts for outcome in part["outcomes"]]
    assert len(ran) == len(set(ran)) == NUMBER
    assert [len(part["outcomes"]) for part in parts] == [3, 3, 3]
    assert [part["full"] for part in parts] == [False] * 3
    merged = sharded.guard("merge", "reports", "--expect", "3", "--report", "report")
    assert (merged.returncode, merged.stdout.split(" in ")[0], merged.stderr) == (0, f"{NUMBER} hold", "")
    whole = record(sharded, "report")
    assert (whole["full"], whole["shard"], whole["commit"]) == (True, None, parts[0]["commit"])
    assert whole["commit"] == Repository(sharded.root).git("rev-parse", "HEAD").strip()

    # what each took decides the next time, and that one shard was not told is noticed
    sharded.guard("check", "--shard", "2/3", "--durations", "report", "--report", "reports/2", "-n", "2")
    spent = {outcome["check"]: round(outcome["seconds"] * 1000) for outcome in whole["outcomes"]}
    part = record(sharded, "reports/2")
    assert set(part["selected"]) == share(whole["known"], {check: ms for check, ms in spent.items() if ms}, 2, 3)
    merged = sharded.guard("merge", "reports", "--expect", "3")
    assert merged.returncode == 1
    assert 'shard: "reports/2/run.json" - was split by other durations' in merged.stdout


def test_orphans_are_judged_by_the_merge_and_by_no_shard(sharded: Project) -> None:
    sharded.checks(CHECKS.partition("def test_one")[0])
    Repository(sharded.root).commit("one is gone")
    assert [part["counts"] for part in shards(sharded, 2)] == [{"holds": 4}, {"holds": 4}]
    merged = sharded.guard("merge", "reports", "--expect", "2")
    assert merged.returncode == 1
    assert 'orphan: "it::one" - a baseline without a check' in merged.stdout
    assert sharded.guard("accept", "it::one").returncode == 0
    assert not (sharded.root / "baselines/it/one.graph").exists()
    shutil.rmtree(sharded.root / "reports/2")
    merged = sharded.guard("merge", "reports", "--expect", "2")
    assert (merged.returncode, "orphan" in merged.stdout) == (1, False)
    assert 'shard: "2/2" - this shard did not arrive' in merged.stdout


def test_a_drift_is_told_to_the_job_in_all_formats(sharded: Project, tmp_path: Path) -> None:
    sharded.write("model.py", 'def ops(): return ["aten.tan.default"]\n')
    Repository(sharded.root).commit("tan")
    page = tmp_path / "page.md"
    page.write_text("before\n")
    sharded.environment |= {"GITHUB_STEP_SUMMARY": str(page), "GITHUB_BASE_REF": "main"}
    (part,) = shards(sharded, 1, codes=(1,))
    origin = json.loads((sharded.root / ".guard/pending/origin.json").read_bytes())
    assert (origin["commit"], len(origin["captures"])) == (part["commit"], len(ODD))
    assert origin["environment"] == part["environment"]
    ran = sharded.guard("merge", "reports", "--expect", "1", "--report", "report", "--format", "github")
    assert ran.returncode == 1
    said = [line for line in ran.stdout.splitlines() if line.startswith("::error")]
    assert len(said) == 1
    assert said[0].startswith("::error file=checks/test_it.py,line=3,title=drift%3A ")
    assert f"and {len(ODD) - 1} more::structure, cos -> tan%0A" in said[0]
    words = {line for line in ran.stdout.splitlines() if line.startswith("::") and line.endswith("::")}
    assert len(words) == 1  # the one that ends the text in which nothing is a command
    told = page.read_text("utf-8")
    assert told.startswith("before\n### guard: 1 holds, 8 drifts")
    assert told.removeprefix("before\n") == (sharded.root / "report" / SUMMARY).read_text("utf-8")
    assert "- %0: f32[4] = aten.cos.default(%x)\n+ %0: f32[4] = aten.tan.default(%x)" in told
    assert "re-recorded is not known" in told  # there is no origin/main here
    results = json.loads((sharded.root / "report" / SARIF).read_bytes())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["drift/structure"] * len(ODD)
    assert len({result["partialFingerprints"]["primaryLocationLineHash"] for result in results}) == len(ODD)


def test_the_summary_lists_what_the_pull_request_re_recorded(sharded: Project, tmp_path: Path) -> None:
    git = Repository(sharded.root)
    git.git("update-ref", "refs/remotes/origin/main", "HEAD")
    sharded.write("model.py", 'def ops(): return ["aten.tan.default"]\n')
    assert sharded.guard("update").returncode == 0
    git.commit("re-record")
    page = tmp_path / "page.md"
    sharded.environment |= {"GITHUB_STEP_SUMMARY": str(page), "GITHUB_BASE_REF": "main"}
    assert sharded.guard("check", "--format", "github").returncode == 0
    assert "### Baselines since `origin/main`" in page.read_text("utf-8")
    assert "and 7 more | `structure, cos -> tan` |" in page.read_text("utf-8")


def test_an_empty_shard_is_fine_and_one_of_one_is_a_whole_run(sharded: Project) -> None:
    empty = sharded.guard("check", "--shard", "100/100")
    assert (empty.returncode, empty.stdout.split(" in ")[:2]) == (0, ["shard 100 of 100: nothing", "it"])
    whole = sharded.guard("check", "--shard", "1/1", "--report", "report")
    assert (whole.returncode, whole.stdout.split(" in ")[0]) == (0, f"{NUMBER} hold")
    assert (record(sharded, "report")["shard"], record(sharded, "report")["full"]) == (None, True)


def test_a_selection_is_split_and_merged_without_orphans(sharded: Project) -> None:
    parts = shards(sharded, 2, "-k", "test_p")
    assert sum(len(part["outcomes"]) for part in parts) == len(ODD)
    assert [part["shard"]["left_out"] for part in parts] == [["it::one"]] * 2
    merged = sharded.guard("merge", "reports/1", "reports/2", "--expect", "2", "--format", "json")
    assert (merged.returncode, json.loads(merged.stdout)["full"]) == (0, False)


def test_what_does_not_read_or_is_not_there_is_named_and_the_rest_is_joined(sharded: Project, tmp_path: Path) -> None:
    shards(sharded, 2)
    shutil.make_archive(str(tmp_path / "second"), "zip", sharded.root / "reports/2")
    (tmp_path / "torn.zip").write_bytes((tmp_path / "second.zip").read_bytes()[:-30])
    first = "reports/1"
    good = sharded.guard("merge", first, str(tmp_path / "second.zip"), "--expect", "2")
    assert (good.returncode, good.stdout.split(" in ")[0]) == (0, f"{NUMBER} hold")
    (tmp_path / "none").mkdir()
    for path, said in (
        (tmp_path / "torn.zip", "is no zip file that can be read"),
        (tmp_path / "none", "there is no run.json in it"),
        (tmp_path / "gone", "cannot be read"),
    ):
        ran = sharded.guard("merge", first, str(path), "--expect", "2")
        assert ran.returncode == 1
        assert f'shard: "{path}" - does not read: ' in ran.stdout
        assert said in ran.stdout
        assert 'shard: "2/2" - this shard did not arrive' in ran.stdout
    bare = sharded.guard("merge", "--expect", "2")
    assert (bare.returncode, bare.stdout.count("did not arrive")) == (1, 2)


@pytest.mark.parametrize("flag", ["0/3", "4/3", "1", "a/b", "1/", "-1/2", "1/1001"])
def test_a_shard_that_cannot_be_is_refused(sharded: Project, flag: str) -> None:
    ran = sharded.guard("check", f"--shard={flag}")
    assert ran.returncode == 2
    assert f"wanted a shard such as 1/4, got {flag!r}" in ran.stderr


def test_durations_that_are_no_report_are_refused_and_those_that_are_not_there_split_by_number(
    sharded: Project,
) -> None:
    sharded.write("report/run.json", "{}")
    ran = sharded.guard("check", "--shard", "1/2", "--durations", "report")
    assert (ran.returncode, "is no report of guard's" in ran.stderr) == (2, True)
    ran = sharded.guard("check", "--shard", "1/2", "--durations", "nowhere", "--report", "report")
    assert (ran.returncode, record(sharded, "report")["shard"]["durations"]) == (0, "")
    ran = sharded.guard("check", "--durations", "nowhere")
    assert (ran.returncode, "--durations is for --shard" in ran.stderr) == (2, True)


def test_a_device_that_is_not_there_fails_before_anything_runs(sharded: Project) -> None:
    ran = sharded.guard("check", "--require-device", "guarddevice", "--report", "report", "--format", "github")
    assert ran.returncode == 2
    assert ran.stdout.startswith("::error title=guard::no GUARDDEVICE device: ")
    assert ran.stdout.count("\n") == 1
    assert "error: no GUARDDEVICE device: " in ran.stderr
    assert not (sharded.root / "report").exists()
    ran = sharded.guard("check", "--device", "cpu", "--require-device", "cuda")
    assert (ran.returncode, 'would not be used: --device is "cpu"' in ran.stderr) == (2, True)


def test_a_report_that_cannot_be_written_is_an_error(sharded: Project) -> None:
    sharded.write("report", "a file")
    ran = sharded.guard("check", "--report", "report")
    assert (ran.returncode, '"report" cannot be written' in ran.stderr) == (2, True)

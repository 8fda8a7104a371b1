"""``guard check`` where little or nothing has moved since the last: whole processes, and a fake tracer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from guard.commands.memory import remember
from guard.commands.options import CheckOptions
from guard.config import load
from guard.findings import Outcome, Run
from guard.freshness.quick import line
from guard.report.summary import summary
from tests.project import Project, empty_project

CHECKS = """
import model
import pytest
def test_one(guard): guard.check(model.ops, tracer=None)
@pytest.mark.parametrize("mode", ["real", "fake"])
def test_two(guard, mode):
    guard.check(lambda: ["needs nested", "aten.sin.default"], tracer=None)
    guard.check(lambda: ["aten.cos.default"], tracer=None, name="again")
@pytest.mark.skip(reason="not here")
def test_skipped(guard): ...
"""
OTHER = """
def test_three(guard): guard.check(lambda: ["aten.tan.default"], tracer=None)
"""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose checks all held a moment ago; for tests that change nothing."""
    made = empty_project(tmp_path_factory.mktemp("held") / "project")
    made.write("checks/model.py", 'def ops(): return ["aten.sin.default"]\n')
    made.checks(CHECKS)
    made.checks(OTHER, "test_other")
    made.record()
    return checked(made)


@pytest.fixture
def own(held: Project, tmp_path: Path) -> Project:
    """Another such, for tests that change it."""
    shutil.copytree(held.root, tmp_path / "project")
    return checked(Project(tmp_path / "project"))


def checked(made: Project) -> Project:
    ran = made.guard("check")
    assert ran.stdout.splitlines()[-1].startswith("6 hold (2 need a fix), 1 skipped in"), ran.stdout
    return made


def run(project: Project, *arguments: str) -> dict[str, Any]:
    ran = project.guard("check", "--format", "json", *arguments)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def statuses(found: dict[str, Any]) -> dict[str, str]:
    return {outcome["check"]: outcome["status"] for outcome in found["outcomes"]}


def test_nothing_moved(held: Project) -> None:
    ran = held.guard("check")
    assert ran.stdout == "6 unchanged since they last held (2 need a fix), 1 skipped in 0.0 s\n"
    assert (ran.returncode, ran.stderr) == (0, "")
    found = run(held)
    assert (found["counts"], found["full"], found["collected"]) == ({"unchanged": 6, "skipped": 1}, True, 5)
    assert statuses(found)["it::two[real]#again"] == "unchanged"
    assert run(held, "it::two", "checks/test_other.py")["counts"] == {"unchanged": 5}
    assert 'unchanged: "it::two[real]", needs fix nested\n' in held.guard("check", "-v", "it::two").stdout
    unknown = held.guard("check", "it::twos")
    assert (unknown.returncode, 'unknown check "it::twos"' in unknown.stderr) == (2, True)


def test_nothing_heavy_is_imported_for_it(held: Project) -> None:
    heavy = {"pytest", "_pytest", "torch", "rich", "filelock", "xdist", "execnet", "numpy"}
    for arguments, more in ((["check"], {"typing", "pathlib", "re", "json", "hashlib"}), (["check", "it::one"], set())):
        script = (
            f"import sys; from guard.__main__ import main; code = main({arguments!r});"
            f"print(sorted(set(sys.modules) & {heavy | more!r}), code)"
        )
        (held.root / "script.py").write_text(script, encoding="utf-8")
        held._run("script.py")
        ran = held._run("script.py")
        assert ran.stdout.splitlines()[-1] == "[] 0", ran.stdout + ran.stderr


def test_only_what_is_affected_is_traced_again(own: Project) -> None:
    own.write("checks/model.py", 'def ops(): return ["aten.exp.default"]\n')
    found = run(own)
    assert statuses(found)["it::one"] == "drift"
    assert found["counts"] == {"holds": 4, "unchanged": 1, "drift": 1, "skipped": 1}
    assert (found["full"], found["collected"]) == (True, 5)
    # what failed is never remembered
    assert run(own)["counts"] == {"unchanged": 5, "drift": 1, "skipped": 1}
    own.write("checks/model.py", 'def ops(): return ["aten.sin.default"]\n')
    assert run(own)["counts"] == {"holds": 5, "unchanged": 1, "skipped": 1}
    assert own.guard("check").stdout.startswith("6 unchanged")


def test_new_checks_gone_ones_and_orphans(own: Project) -> None:
    own.checks(OTHER + OTHER.replace("three", "four"), "test_other")
    assert statuses(run(own, "-k", "three or one")) == {"other::three": "holds", "it::one": "unchanged"}
    own.checks(OTHER, "test_another")
    found = statuses(run(own))
    assert found["another::three"] == "missing"
    assert (found["other::four"], found["other::three"], found["it::one"]) == ("missing", "unchanged", "unchanged")
    own.checks("", "test_other")
    (own.root / "checks/test_another.py").unlink()
    found = statuses(run(own))
    assert (found["other::three"], found["it::one"], len(found)) == ("orphan", "unchanged", 7)
    (own.root / "baselines/other/three.graph").rename(own.root / "baselines/other/five.graph")
    assert run(own)["exit_code"] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"ids": ()},
        {"cache": False},
        {"junitxml": Path("x")},
        {"report": Path("x")},
        {"fixes": "off"},
        {"pdb": True},
        {"pytest_args": ("-p", "x")},
        {"against": "main"},
        {"shard": (1, 2)},
        {"require_device": "cuda"},
        {"trace_cost": "off"},
        {"device": "cuda"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_is_traced_whatever_is_remembered(held: Project, monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    monkeypatch.setattr(
        "guard.commands.memory.surroundings", lambda _environ, device: _of(held) if device == "cpu" else ""
    )
    monkeypatch.delenv("CI", raising=False)
    config = load(held.root)
    memory = remember(config, CheckOptions(**change), started=0)
    answers = memory is not None and memory.answer(CheckOptions(**change)) is not None
    assert answers == ("ids" in change)
    monkeypatch.setenv("CI", "true")
    assert remember(config, CheckOptions(), started=0) is None


def _of(project: Project) -> str:
    return (project.root / ".guard/cache/held").read_text(encoding="utf-8").splitlines()[2]


def test_ci_and_no_cache_trace_everything(own: Project) -> None:
    assert run(own, "--no-cache")["counts"] == {"holds": 6, "skipped": 1}
    own.environment["CI"] = "true"
    assert own.guard("check", "it::one").stdout.startswith("1 holds")
    own.environment["CI"] = "false"
    assert own.guard("check", "it::one").stdout.startswith("1 unchanged")
    own.environment["TORCH_LOGS"] = "+dynamo"
    assert own.guard("check", "it::one").stdout.startswith("1 holds")


def test_a_copy_of_a_project_remembers_nothing(held: Project, tmp_path: Path) -> None:
    shutil.copytree(held.root, tmp_path / "project")
    assert Project(tmp_path / "project").guard("check", "it::one").stdout.startswith("1 holds")


def test_what_one_run_changes_under_another_is_not_remembered(own: Project) -> None:
    """A file that is younger than the run may not be the one that was traced."""
    own.checks(
        dedent(CHECKS) + "import pathlib\ndef test_edits(guard):\n    path = pathlib.Path(model.__file__)\n"
        "    path.write_text(path.read_text())\n    guard.check(lambda: ['aten.sin.default'], tracer=None)\n"
    )
    assert own.guard("update").returncode == 0
    for _ in range(2):
        assert statuses(run(own))["it::one"] == "holds"


@pytest.mark.prove
def test_one_source_of_200_checks_moves(tmp_path: Path) -> None:
    """The programs count for themselves how often they are traced."""
    made = empty_project(tmp_path / "project")
    log = tmp_path / "traced.log"
    for number in range(200):
        made.write(
            f"checks/programs/p{number}.py",
            f"def ops():\n    with open({str(log)!r}, 'a') as log: print({number}, file=log)\n"
            "    return ['aten.sin.default']\n",
        )
        made.checks(
            f"from programs import p{number}\ndef test_it(guard): guard.check(p{number}.ops, tracer=None)\n",
            f"test_{number}",
        )
    assert made.guard("update").returncode == 0
    assert run(made)["counts"] == {"holds": 200}
    log.unlink()
    path = made.root / "checks/programs/p77.py"
    path.write_text(path.read_text(encoding="utf-8") + "# an edit\n", encoding="utf-8")
    assert run(made)["counts"] == {"holds": 1, "unchanged": 199}
    assert log.read_text(encoding="utf-8") == "77\n"
    assert run(made)["counts"] == {"unchanged": 200}


@pytest.mark.parametrize("needing", [0, 1, 3])
@pytest.mark.parametrize("skipped", [0, 2])
@pytest.mark.parametrize("number", [1, 3])
def test_the_quick_line_is_that_of_the_report(number: int, skipped: int, needing: int) -> None:
    outcomes = [Outcome(f"a::{i}", "n", needs=("x",) if i < needing else (), unchanged=True) for i in range(number)]
    outcomes += [Outcome(f"a::s{i}", "n", skipped="why", unchanged=True) for i in range(skipped)]
    assert line(number, skipped, min(needing, number), 0.04) == summary(Run(tuple(outcomes), seconds=0.04))

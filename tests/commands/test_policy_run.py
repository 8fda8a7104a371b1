"""Policy in whole runs: what fails, what is shown, what is silent; through workers and under bare pytest."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.test_since import git
from tests.project import Project, empty_project

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = """
def test_one(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)
def test_two(guard):
    guard.check(lambda: ["aten.sin.default"], tracer=None)
    guard.check(lambda: ["aten.neg.default"], tracer=None, name="second")
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checks with baselines that both drift: a node is another, structure."""
    made = empty_project(tmp_path_factory.mktemp("template") / "project")
    made.checks(CHECKS)
    made.record()
    made.checks(CHECKS.replace("sin", "cos"))
    return made.root


@pytest.fixture
def drifted(template: Path, tmp_path: Path) -> Project:
    """A copy of the template."""
    shutil.copytree(template, tmp_path / "project")
    return Project(tmp_path / "project")


def policy(project: Project, table: str) -> None:
    with (project.root / "pyproject.toml").open("a") as stream:
        stream.write(f"\n[tool.guard.policy]\n{table}\n")


def run(project: Project) -> dict[str, Any]:
    ran = project.guard("check", "--format", "json")
    assert ran.stdout, ran.stderr
    record: dict[str, Any] = json.loads(ran.stdout)
    assert record["exit_code"] == ran.returncode
    return record


def test_strict_by_default(drifted: Project) -> None:
    assert run(drifted)["counts"] == {"drift": 2}


@pytest.mark.parametrize("rule", ['"warn"', '{ by = "unknown", action = "warn" }'])
def test_warned_is_shown_and_passes(drifted: Project, rule: str) -> None:
    policy(drifted, f"structure = {rule}")
    ran = drifted.guard("check")
    assert ran.returncode == 0, ran.stdout
    assert 'warning, drift: "it::one" and 1 more - structure' in ran.stdout
    assert "2 hold (2 with a warning)" in ran.stdout or "3 hold (2 with a warning)" in ran.stdout
    record = run(drifted)
    # the test goes on after a drift that may pass: its second call is heard of, and no orphan
    assert [outcome["check"] for outcome in record["outcomes"]] == ["it::one", "it::two", "it::two#second"]
    assert (record["warned"], record["counts"]) == (2, {"holds": 3})
    assert drifted.guard("update").returncode == 0
    assert run(drifted)["warned"] == 0


def test_a_rule_for_another_cause_or_class_leaves_it_failing(drifted: Project) -> None:
    policy(drifted, 'structure = { by = "torch", action = "warn" }\norder = "warn"')
    record = run(drifted)
    assert record["counts"] == {"holds": 1, "drift": 2}  # deferred: the second call was reached


@pytest.mark.parametrize(("by", "code"), [("code", 0), ("unknown", 1), ("torch", 1)])
def test_the_cause_that_git_tells_decides(drifted: Project, by: str, code: int) -> None:
    policy(drifted, f'structure = {{ by = "{by}", action = "warn" }}')
    drifted.write(".gitignore", ".guard\n__pycache__\n")
    drifted.checks(CHECKS)
    git("init", "-q", cwd=drifted.root)
    git("add", ".", cwd=drifted.root)
    git("commit", "-qm", "all", cwd=drifted.root)
    drifted.checks(CHECKS.replace("sin", "acosh"))  # the same torch, another source
    ran = drifted.guard("check")
    assert ran.returncode == code, ran.stdout
    assert ("warning, drift: " in ran.stdout) == (code == 0)


def test_ignored_is_silent_and_counted(drifted: Project) -> None:
    policy(drifted, 'structure = { action = "ignore", reason = "torch is moving" }')
    ran = drifted.guard("check")
    assert (ran.returncode, "drift" in ran.stdout) == (0, False)
    verbose = drifted.guard("check", "-v").stdout
    assert 'ignored drift: "it::one" - structure' in verbose
    assert "(torch is moving)" in verbose
    assert run(drifted)["ignored"] == 2


def test_a_check_s_own_policy(drifted: Project) -> None:
    own = 'tracer=None, policy={"structure": "warn"}'
    drifted.checks(CHECKS.replace("sin", "cos").replace("tracer=None", own, 1))
    assert {o["check"]: o["status"] for o in run(drifted)["outcomes"]} == {"it::one": "holds", "it::two": "drift"}
    policy(drifted, 'structure = "warn"')
    drifted.checks(CHECKS.replace("sin", "cos").replace("tracer=None", own.replace("warn", "fail"), 1))
    assert run(drifted)["counts"] == {"holds": 2, "drift": 1}


def test_a_wrong_policy_of_a_check(drifted: Project) -> None:
    drifted.checks(CHECKS.replace("tracer=None", 'tracer=None, policy={"structur": "warn"}', 1))
    ran = drifted.guard("check", "it::one")
    assert ran.returncode == 1
    assert 'refused: "it::one" - unknown class "structur" in policy= of guard.check\n' in ran.stdout
    assert 'did you mean "structure"?' in ran.stdout


def test_a_wrong_policy_of_the_project(drifted: Project) -> None:
    policy(drifted, 'structur = "warn"')
    for verb in (["check"], ["list"], ["accept", "--all"]):
        ran = drifted.guard(*verb)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert 'error: unknown class "structur" in [tool.guard.policy]' in ran.stderr


def test_under_bare_pytest(drifted: Project) -> None:
    policy(drifted, 'structure = { by = "torch", action = "warn" }')
    assert drifted.pytest("checks").returncode == 1
    policy_file = drifted.root / "pyproject.toml"
    policy_file.write_text(policy_file.read_text().replace('by = "torch"', 'by = "unknown"'))
    ran = drifted.pytest("checks", "-rP")
    assert ran.returncode == 0, ran.stdout
    assert 'warning, drift: "it::one" - structure' in ran.stdout


def test_a_check_may_keep_some_classes_only(drifted: Project) -> None:
    path = drifted.root / "checks" / "test_it.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("tracer=None)", 'tracer=None, keep=("mutation",))'), encoding="utf-8")
    kept = run(drifted)
    path.write_text(text.replace("tracer=None)", 'tracer=None, keep=("structure",))'), encoding="utf-8")

    assert kept["exit_code"] == 0
    assert run(drifted)["exit_code"] == 1

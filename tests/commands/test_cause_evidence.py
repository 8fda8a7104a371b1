"""Who moved a graph, as ``guard check`` tells it from git alone."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from tests.project import Project, model
from tests.repository import Repository, record_in, rerecord

if TYPE_CHECKING:
    from pathlib import Path


def drift(project: Project, *arguments: str) -> dict[str, Any]:
    ran = project.guard("check", "--format", "json", *arguments)
    found = json.loads(ran.stdout)
    (outcome,) = (outcome for outcome in found["outcomes"] if outcome["check"] == "it::one")
    finding: dict[str, Any] = outcome["findings"][0]
    return {**finding, "code": ran.returncode, "notes": found["notes"]}


def test_an_edited_source_is_named_and_the_code_moved_it(committed: Project, git: Repository) -> None:
    commit = git.git("rev-parse", "HEAD")[:10]
    model(committed, "tan")
    ran = committed.guard("check")
    assert ran.returncode == 1
    assert f"  since {commit}: torch " in ran.stdout
    assert " as then; 1 of 2 sources changed: model.py - your code moved\n  intended? guard accept" in ran.stdout
    found = drift(committed)
    assert (found["kind"], found["by"], found["code"]) == ("drift", "code", 1)
    assert len(found["evidence"]) == 1
    git.commit()  # a commit of the source alone changes no baseline: the reference stays
    assert drift(committed)["evidence"] == found["evidence"]


def test_only_another_torch_moved_it(committed: Project, git: Repository) -> None:
    record_in(committed, "2.12.0")
    rerecord(committed, "aten.cos", "aten.tan")  # as that torch captured it
    git.commit()
    found = drift(committed)
    assert found["by"] == "torch"
    assert "torch 2.12.0 -> " in found["evidence"][0]
    assert found["evidence"][0].endswith("; none of 2 sources changed - torch moved")


def test_both_may_have_moved_it(committed: Project, git: Repository) -> None:
    record_in(committed, "2.12.0")
    rerecord(committed, "aten.cos", "aten.tan")
    commit = git.commit()[:10]
    model(committed, "neg")
    found = drift(committed)
    assert found["by"] == ""
    assert found["evidence"][1] == f'who moved it? guard check --against {commit} "it::one"'


def test_a_file_that_the_capture_did_not_run_keeps_torch_from_being_blamed(committed: Project, git: Repository) -> None:
    record_in(committed, "2.12.0")
    rerecord(committed, "aten.cos", "aten.tan")
    git.commit()
    committed.write("sizes.py", "N = 1\n")
    found = drift(committed)
    assert found["by"] == ""
    assert "1 other Python file did: sizes.py" in found["evidence"][0]
    (committed.root / "sizes.py").unlink()
    committed.write("checks/test_more.py", "")  # nothing imports a module of other checks
    committed.write("notes.md", "torch was bumped\n")
    assert drift(committed)["by"] == "torch"


def test_a_baseline_that_is_not_committed_is_said_to_be(committed: Project) -> None:
    rerecord(committed, "aten.cos", "aten.tan")
    found = drift(committed)
    assert found["by"] == ""
    assert found["evidence"][0].startswith("the baseline is not committed; since HEAD (")


def test_a_shallow_clone_says_what_to_do(committed: Project, git: Repository, tmp_path: Path) -> None:
    git.commit()
    git.git("clone", "--quiet", "--depth=1", f"file://{committed.root}", str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone", committed.environment)
    model(clone, "tan")
    found = drift(clone)
    assert found["by"] == ""
    assert found["evidence"][1] == "a shallow clone has no more history: git fetch --unshallow"


def test_without_git_a_note_says_so_and_nothing_fails(committed: Project, tmp_path: Path) -> None:
    model(committed, "tan")
    shutil.rmtree(committed.root / ".git")
    found = drift(committed)
    assert (found["by"], found["evidence"], found["code"]) == ("", [], 1)
    assert found["notes"] == [
        "who moved them is not known: there is no git repository; git init, and commit the baselines"
    ]
    committed.environment["PATH"] = str(tmp_path)
    assert drift(committed)["notes"] == [
        "who moved them is not known: git is not installed; install git, and commit the baselines"
    ]


def test_a_run_that_holds_asks_git_nothing(committed: Project) -> None:
    shutil.rmtree(committed.root / ".git")
    ran = committed.guard("check")
    assert (ran.returncode, "git" in ran.stdout) == (0, False)


def test_without_fixes_nothing_is_said_of_a_baseline_that_was_recorded_with_them(committed: Project) -> None:
    model(committed, "tan")
    assert drift(committed, "--fixes", "off")["evidence"] == []


def test_evidence_is_said_once_a_check_and_every_finding_has_the_cause(committed: Project) -> None:
    committed.write("model.py", 'def ops(): return ["fails: it broke"]\n')
    found = drift(committed)
    assert (found["kind"], found["by"], len(found["evidence"])) == ("error", "code", 1)


def test_policy_by_cause_takes_it_from_the_evidence(committed: Project) -> None:
    with (committed.root / "pyproject.toml").open("a") as stream:
        stream.write('\n[tool.guard.policy]\nany = { by = "code", action = "warn" }\n')
    model(committed, "tan")
    ran = committed.guard("check")
    assert ran.returncode == 0
    assert " - your code moved\n" in ran.stdout


def test_update_which_settles_all_of_it_asks_nothing(committed: Project) -> None:
    shutil.rmtree(committed.root / ".git")
    model(committed, "tan")
    ran = committed.guard("update")
    assert (ran.returncode, "who moved" in ran.stdout) == (0, False), ran.stdout + ran.stderr

"""``guard check --against REF``: REF's code under the installed torch, beside the baselines and current."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.project import model
from tests.repository import record_in, repository, rerecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.project import Project
    from tests.repository import Repository


@pytest.fixture(autouse=True)
def _nothing_is_left(committed: Project, git: Repository) -> Iterator[None]:
    """Whatever a test does: the user has no other worktree, and the temporary folder is empty."""
    yield
    trees = git.git("worktree", "list", "--porcelain").split("\n\n")
    assert len(trees) == 2, trees  # the user's own, and the end
    assert not (committed.root / ".git/worktrees").exists()
    assert list(Path(committed.environment["TMPDIR"]).glob("guard-against-*")) == []


def run(project: Project, ref: str, *arguments: str) -> dict[str, Any]:
    before = _own(project)
    ran = project.guard("check", "--format", "json", "--against", ref, *arguments)
    assert ran.stdout, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    assert found["exit_code"] == ran.returncode
    assert _own(project) == before
    return found | {check["check"]: check for check in found["outcomes"]}


def _own(project: Project) -> list[bytes]:
    """Read what git keeps of the user's own work tree."""
    return [(project.root / ".git" / name).read_bytes() for name in ("index", "HEAD", "config", "logs/HEAD")]


def by(found: dict[str, Any], check: str = "it::one") -> tuple[str, str]:
    (finding,) = found[check]["findings"]
    return finding["by"], finding["evidence"][-1]


def without_baselines(project: Project, git: Repository) -> None:
    shutil.rmtree(project.root / "baselines")
    git.commit()


def test_your_code_moved_it(committed: Project, git: Repository) -> None:
    """R is B: the same code still captures what it did, although torch and code both moved."""
    record_in(committed, "2.12.0")
    rerecord(committed, "aten.cos", "aten.neg")
    model(committed, "neg")
    git.commit()
    model(committed, "tan")
    mixed = committed.guard("check")
    assert "who moved it? guard check --against" in mixed.stdout
    commit = git.git("rev-parse", "HEAD").strip()
    found = run(committed, "HEAD")
    cause, said = by(found)
    assert cause == "code"
    assert said.startswith(f"the code of HEAD ({commit[:10]}) still captures the baseline under torch ")
    assert found["environment"]["against"] == commit


def test_torch_moved_it(committed: Project, git: Repository) -> None:
    """R is C: what is installed beside the project captures something else of the same code."""
    record_in(committed, "2.12.0")
    rerecord(committed, "aten.cos", "aten.old")
    git.commit()
    committed.write("layers.py", "N = 1\n")  # which may or may not matter: evidence alone cannot tell
    git.commit()
    cause, said = by(run(committed, "HEAD~1"))
    assert cause == "torch"
    assert said.endswith("and recorded the baseline under 2.12.0: torch moved")


def test_both_moved_it(committed: Project, git: Repository) -> None:
    record_in(committed, "2.12.0")
    rerecord(committed, "aten.cos", "aten.old")
    git.commit()
    model(committed, "tan")
    git.commit()
    cause, said = by(run(committed, "HEAD~1", "it::one"))
    assert cause == "both"
    assert "captures a third thing under torch" in said


def test_a_later_commit_settles_nothing(committed: Project, git: Repository) -> None:
    """R is C for any REF of today's code, whoever moved it before."""
    record_in(committed, "2.12.0")
    rerecord(committed, "aten.cos", "aten.old")
    commit = git.commit()
    model(committed, "tan")
    git.commit()
    cause, said = by(run(committed, "HEAD"))
    assert cause == ""
    assert said.endswith(f': guard check --against {commit[:10]} "it::one"')


def test_what_holds_is_not_traced_twice(committed: Project) -> None:
    started = time.perf_counter()
    found = run(committed, "HEAD")
    assert found["counts"] == {"holds": 2}
    assert time.perf_counter() - started < 60
    assert found["notes"] == []


def test_without_baselines_a_difference_is_the_codes(committed: Project, git: Repository) -> None:
    without_baselines(committed, git)
    found = run(committed, "HEAD")
    assert (found["counts"], found["exit_code"]) == ({"holds": 2}, 0)
    model(committed, "tan")
    found = run(committed, "HEAD", "it::one")
    cause, said = by(found)
    assert (cause, found["counts"], found["exit_code"]) == ("code", {"drift": 1}, 1)
    assert "captures something else under torch" in said
    (finding,) = found["it::one"]["findings"]
    assert any(line.startswith("- %1: f32[4] = aten.cos.default(%0)") for line in finding["lines"])
    assert finding["fix"] is None  # there is no baseline to accept
    assert finding["source"] == "checks/test_it.py:2"


def test_a_check_that_ref_does_not_have_is_named(committed: Project, git: Repository) -> None:
    without_baselines(committed, git)
    committed.checks("def test_new(guard): guard.check(lambda: ['a.b.c'], tracer=None)\n", name="test_new")
    text = (committed.root / "checks/test_it.py").read_text()
    committed.write("checks/test_it.py", text.replace("test_two", "test_renamed"))
    found = run(committed, "HEAD")
    assert found["exit_code"] == 0
    assert found["counts"] == {"holds": 1, "skipped": 2}
    assert found["new::new"]["skipped"].endswith(" does not have it")
    assert any(note.endswith(' has "it::two"') for note in found["notes"])
    assert any("untracked files are not in the copy of HEAD" in note for note in found["notes"])
    # nothing to compare with at all: nothing was checked
    assert run(committed, "HEAD", "new::new")["exit_code"] == 4


def test_a_ref_that_does_not_run_is_no_pass(committed: Project, git: Repository) -> None:
    model(committed, "tan")
    shutil.rmtree(committed.root / "baselines")
    text = (committed.root / "checks/test_it.py").read_text()
    committed.write("checks/test_it.py", f"import gone\n{text}")
    git.commit()
    committed.write("checks/test_it.py", text)
    found = run(committed, "HEAD")
    assert (found["exit_code"], found["counts"]) == (1, {"missing": 2})
    (finding,) = found["it::one"]["findings"]
    assert finding["title"].startswith("nothing to compare it with: HEAD")
    assert "No module named 'gone'" in finding["title"]


def test_refs_own_configuration_counts(committed: Project, git: Repository) -> None:
    without_baselines(committed, git)
    (committed.root / "checks").rename(committed.root / "graphs")
    settings = (committed.root / "pyproject.toml").read_text()
    committed.write("pyproject.toml", settings.replace("[tool.guard]", '[tool.guard]\nchecks = "graphs"'))
    found = run(committed, "HEAD")
    assert found["counts"] == {"holds": 2}


def test_a_ref_without_a_project_has_no_check(committed: Project, git: Repository) -> None:
    without_baselines(committed, git)
    git.git("checkout", "-q", "--orphan", "empty")
    git.git("rm", "-r", "-q", "--cached", ".")
    git.git("commit", "-q", "--allow-empty", "-m", "nothing")
    git.git("checkout", "-q", "-f", "main")
    found = run(committed, "empty")
    assert found["counts"] == {"skipped": 2}


def test_a_project_below_the_repositorys_root(committed: Project, tmp_path: Path) -> None:
    shutil.rmtree(committed.root / "baselines")
    top = repository(tmp_path / "mono")
    shutil.copytree(committed.root, top.top / "sub", ignore=shutil.ignore_patterns(".git", ".guard"))
    top.commit()
    inner = type(committed)(top.top / "sub", committed.environment)
    model(inner, "tan")
    ran = inner.guard("check", "--against", "main", "--format", "json", "it::one")
    assert json.loads(ran.stdout)["counts"] == {"drift": 1}, ran.stdout + ran.stderr
    assert top.git("worktree", "list").count("\n") == 1


def test_a_module_that_is_imported_from_todays_tree_is_refused(committed: Project, git: Repository) -> None:
    """As an editable installation does it that guard cannot lead elsewhere."""
    without_baselines(committed, git)
    folder = json.dumps(str(committed.root))
    conftest = (committed.root / "checks/conftest.py").read_text()
    committed.write("checks/conftest.py", f"{conftest}\nsys.path.insert(0, {folder})\nimport model\nsys.path.pop(0)\n")
    git.commit()
    model(committed, "tan")
    ran = committed.guard("check", "--against", "HEAD")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert 'its checks imported "model.py" of ' in ran.stderr


def test_a_path_into_todays_tree_leads_to_refs(committed: Project, git: Repository) -> None:
    """As an editable installation does it by a .pth file."""
    settings = (committed.root / "pyproject.toml").read_text()
    committed.write("pyproject.toml", settings.replace('pythonpath = ["."]', ""))
    without_baselines(committed, git)
    model(committed, "tan")
    committed.environment["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parents[2]), *sys.path, str(committed.root)]
    )
    found = run(committed, "HEAD")
    assert found["counts"] == {"holds": 1, "drift": 1}


def test_what_cannot_be_asked_is_refused_before_anything_runs(committed: Project) -> None:
    for arguments, told in (
        (("nope",), '"nope" names no commit here'),
        (("HEAD", "-x"), '"--against" and "-x" exclude each other'),
        (("HEAD", "--pdb"), '"--against" and "--pdb" exclude each other'),
    ):
        ran = committed.guard("check", "--against", *arguments)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert told in ran.stderr


def test_a_hook_of_the_users_does_not_run(committed: Project, git: Repository) -> None:
    without_baselines(committed, git)
    hook = committed.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {committed.root}/ran\n")
    hook.chmod(0o755)
    assert run(committed, "HEAD")["exit_code"] == 0
    assert not (committed.root / "ran").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGKILL", -9)])
def test_a_run_that_is_ended_leaves_nothing(committed: Project, git: Repository, number: str, code: int) -> None:
    marker = committed.root / "started"
    shutil.rmtree(committed.root / "baselines")
    committed.write("model.py", f"import pathlib, time\npathlib.Path({str(marker)!r}).touch()\ntime.sleep(300)\n")
    git.commit()
    model(committed, "cos")
    before = _own(committed)
    process = committed.start("check", "--against", "HEAD")
    try:
        _wait_for(marker)
        assert len(list(Path(committed.environment["TMPDIR"]).glob("guard-against-*"))) == 1
        process.send_signal(signal.Signals[number])
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, _own(committed)) == (code, before)
    if number == "SIGKILL":  # the next run does it; nobody else's worktree is touched
        assert git.git("worktree", "list").count("\n") == 2
        mine = Path(committed.environment["TMPDIR"]) / "mine"
        git.git("worktree", "add", "-q", "--detach", str(mine))
        shutil.rmtree(mine)  # as one on a disk that is not mounted
        git.git("commit", "-q", "--all", "-m", "as today")
        assert run(committed, "HEAD")["exit_code"] == 0
        assert str(mine) in git.git("worktree", "list")
        git.git("worktree", "prune")


def _wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_ref_whose_check_crashes_is_no_pass(committed: Project, git: Repository) -> None:
    shutil.rmtree(committed.root / "baselines")
    committed.write("model.py", "import os\ndef ops(): os.abort()\n")
    git.commit()
    model(committed, "tan")
    found = run(committed, "HEAD")
    assert (found["exit_code"], found["counts"]) == (1, {"holds": 1, "missing": 1})
    assert ": crash, SIGABRT while" in found["it::one"]["findings"][0]["title"]

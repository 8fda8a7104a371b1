"""What a job is told of a run: files, page and log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from guard.commands.publish import Wanted, publish
from guard.config import load
from guard.findings import Finding, Outcome, Run, Shard
from guard.report import step
from tests.repository import repository

RUN = Run((Outcome("it::a", "checks/test_it.py::test_a", (Finding("crash", "it::a", "SIGSEGV"),)),))
GITHUB = Wanted("github")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of a job that checked out a pull request."""
    here = repository(tmp_path / "repository")
    here.write("sub/pyproject.toml", "[tool.guard]\n")
    here.commit("first")
    here.git("update-ref", "refs/remotes/origin/main", "HEAD")
    monkeypatch.chdir(here.top / "sub")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))
    return tmp_path / "page.md"


def test_what_was_re_recorded_is_said_once_of_a_run_that_is_split(page: Path) -> None:
    publish(load(), replace(RUN, shard=Shard(1, 2)), GITHUB)
    assert "Baselines since" not in page.read_text("utf-8")
    publish(load(), RUN, GITHUB)
    assert "### Baselines since `origin/main`" in page.read_text("utf-8")


def test_all_pages_of_one_step_fit_together(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "LIMIT", 2000)
    page.write_text("x" * 1900)
    publish(load(), RUN, GITHUB)
    assert page.stat().st_size <= 2000


def test_paths_are_those_of_the_repository(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish(load(), RUN, GITHUB._replace(report=Path("report")))
    assert "::error file=sub/checks/test_it.py,line=1," in capsys.readouterr().out
    assert '"uri": "sub/checks/test_it.py"' in Path("report/guard.sarif").read_text("utf-8")
    assert page.read_text("utf-8") == Path("report/summary.md").read_text("utf-8")


def test_text_and_json_leave_the_page_alone(page: Path) -> None:
    publish(load(), RUN, Wanted())
    publish(load(), RUN, Wanted("json"))
    assert not page.exists()


def test_without_git_the_workspace_says_where_the_project_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "work/sub/checks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work/sub")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "work"))
    publish(load(), RUN, GITHUB)
    assert "::error file=sub/checks/test_it.py,line=1," in capsys.readouterr().out

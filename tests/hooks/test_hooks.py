"""The hooks with the real tools: installed from a repository of guard's, run by real commits in somebody else's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.act.workflow import find_tool
from tests.project import ROOT, Project, model, modelled_project
from tests.repository import SETTINGS, Repository, repository

if TYPE_CHECKING:
    from collections.abc import Mapping

SHIPPED = ("guard", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
pytestmark = [pytest.mark.prove, pytest.mark.timeout(600)]


@dataclass
class Commits:
    """Somebody's repository, in which commits run hooks."""

    project: Project
    environment: Mapping[str, str]

    @property
    def root(self) -> Path:
        return self.project.root

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )

    def commit(self, *flags: str) -> tuple[bool, str]:
        """Commit; return whether it was made, and what the hooks said. Whatever they say, they change no file."""
        before = tracked(self.root)
        ran = self.run("git", *SETTINGS, "commit", "--quiet", "--message=change", *flags)
        assert tracked(self.root) == before
        return ran.returncode == 0, ran.stdout + ran.stderr

    def git(self, *arguments: str) -> str:
        return Repository(self.root).git(*arguments)

    def guard(self, *arguments: str) -> str:
        ran = self.project.guard(*arguments)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout


def tracked(root: Path) -> dict[str, bytes]:
    """Return every file but guard's state and git's: those that git knows, and those that it does not."""
    aside = {".git", ".guard", "__pycache__"}
    files = (path for path in root.rglob("*") if path.is_file() and aside.isdisjoint(path.relative_to(root).parts))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The repository that hooks are installed from: what is here, committed or not."""
    made = repository(tmp_path_factory.mktemp("hooks") / "graph-guard")
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, made.top / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, made.top / name)
    made.commit()
    return made


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where both tools keep the environments that they install."""
    top = tmp_path_factory.mktemp("homes")
    return {"PRE_COMMIT_HOME": str(top / "pre-commit"), "PREK_HOME": str(top / "prek")}


def commits(tmp_path: Path, homes: dict[str, str]) -> Commits:
    """Make a project whose own environment has guard, as ``guard``."""
    project = modelled_project(tmp_path / "project")
    repository(project.root)
    own = project._environment()
    shim = tmp_path / "bin/guard"
    shim.parent.mkdir()
    # the path of guard's is of this command alone: the environment that a tool installs must stand by itself
    shim.write_text(f'#!/bin/sh\nPYTHONPATH="{own["PYTHONPATH"]}" exec "{sys.executable}" -m guard "$@"\n')
    shim.chmod(0o755)
    environment = {name: value for name, value in own.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= homes | {
        "PATH": f"{shim.parent}{os.pathsep}{environment['PATH']}",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
    }
    return Commits(project, environment)


@pytest.mark.parametrize("tool", ["pre-commit", "prek"])
def test_a_drift_blocks_a_commit_until_it_is_accepted_and_staged(
    tmp_path: Path, hooks: Repository, homes: dict[str, str], tool: str
) -> None:
    made = commits(tmp_path, homes)
    rev = hooks.git("rev-parse", "HEAD").strip()
    made.project.write(
        ".pre-commit-config.yaml",
        f"repos:\n  - repo: {hooks.top}\n    rev: {rev}\n    hooks: [{{id: guard-verify}}, {{id: guard-check}}]\n",
    )
    made.git("add", "--all")
    installed = made.run(find_tool(tool), "install")
    assert installed.returncode == 0, installed.stderr
    assert blocked(made, "guard update", "uses guard and has no baseline")
    made.guard("update")
    assert blocked(made, "is not tracked")  # the baselines are not in the commit
    made.git("add", "baselines")
    passes(made)

    model(made.project, "tan")
    made.git("add", "model.py")
    assert blocked(made, 'drift: "it::one"', 'guard accept "it::one"')
    made.guard("accept", "it::one")
    assert blocked(made, 'drift: "it::one"')  # what is accepted and not staged is not in the commit
    made.git("add", "baselines")
    passes(made)

    made.project.write("notes.txt", "nothing that a check depends on\n")
    made.git("add", "notes.txt")
    passes(made)

    made.git("rm", "--quiet", "checks/test_it.py")  # no file is left to pass to a hook
    assert blocked(made, '"it::one" has no check')
    made.git("checkout", "HEAD", "--", "checks/test_it.py")

    model(made.project, "exp")
    made.guard("update")
    assert made.commit("--all")[0]  # git keeps what -a stages in an index of its own

    home = Path(homes["PRE_COMMIT_HOME" if tool == "pre-commit" else "PREK_HOME"])
    packages = {path.name.partition("-")[0] for path in home.rglob("*.dist-info")}
    assert "graph_guard" in packages
    assert not packages & {"torch", "numpy"}


def blocked(made: Commits, *said: str) -> bool:
    done, out = made.commit()
    assert not done, out
    return all(text in out for text in said) or pytest.fail(out)


def passes(made: Commits) -> None:
    done, out = made.commit()
    assert done, out


def test_partial_staging_is_judged_as_it_is_staged(tmp_path: Path, hooks: Repository, homes: dict[str, str]) -> None:
    """pre-commit takes away what is not staged: the drift in progress does not block what is."""
    made = commits(tmp_path, homes)
    rev = hooks.git("rev-parse", "HEAD").strip()
    hook = f"repos:\n  - repo: {hooks.top}\n    rev: {rev}\n    hooks: [{{id: guard-verify}}, {{id: guard-check}}]\n"
    made.project.write(".pre-commit-config.yaml", hook)
    made.guard("update")
    made.git("add", "--all")
    assert made.run(find_tool("pre-commit"), "install").returncode == 0
    passes(made)
    model(made.project, "tan")  # in progress
    made.project.write("notes.txt", "done\n")
    made.git("add", "notes.txt")
    passes(made)
    assert "tan" in (made.root / "model.py").read_text()
    made.guard("update")  # accepted, and neither half is staged
    made.project.write("notes.txt", "done again\n")
    made.git("add", "notes.txt")
    passes(made)
    made.git("add", "baselines")  # the one half
    assert blocked(made, 'drift: "it::one"')
    made.git("add", "model.py")
    passes(made)


def test_try_repo(tmp_path: Path, hooks: Repository, homes: dict[str, str]) -> None:
    made = commits(tmp_path, homes)
    made.guard("update")
    made.git("add", "--all")
    ran = made.run(find_tool("pre-commit"), "try-repo", str(hooks.top), "--all-files", "--verbose")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("Passed") == 2
    assert "2 baselines verified, no faults" in ran.stdout

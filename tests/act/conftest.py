"""A repository with the project's own workflow and action, on checks that trace with the fake tracer."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.act.workflow import Act
from tests.project import ROOT, Project, empty_project
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOW = ".github/workflows/guard.yml"
CHECKS = """
from model import ops
def test_one(guard): guard.check(ops, tracer=None)
def test_two(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)
"""
SETTINGS = """
[tool.guard]
workers = 1

[tool.pytest.ini_options]
addopts = "-p no:cacheprovider"
pythonpath = ["."]
"""


def adopt(project: Project) -> Repository:
    """Commit a project that holds together with the workflows and the action of this one."""
    shutil.copytree(ROOT / ".github", project.root / ".github")
    shutil.copy(ROOT / "action.yml", project.root)
    project.write(".gitignore", "__pycache__/\n.guard/\n")
    ran = project.guard("update")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    made = repository(project.root)
    made.git("remote", "add", "origin", "https://github.com/owner/project.git")
    made.commit("first")
    return made


@pytest.fixture(scope="session")
def fake_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = empty_project(tmp_path_factory.mktemp("fake") / "project")
    made.write("pyproject.toml", SETTINGS)
    made.checks(CHECKS)
    made.write("model.py", 'def ops(): return ["aten.sin.default", "aten.cos.default"]\n')
    adopt(made)
    return made.root


@pytest.fixture
def fake(fake_template: Path, tmp_path: Path) -> Act:
    """Act on a copy of the repository."""
    shutil.copytree(fake_template, tmp_path / "project")
    return Act(Repository(tmp_path / "project"), tmp_path / "act", {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})

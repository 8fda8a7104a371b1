"""A project in a git repository: two baselines, recorded by the code of its one commit."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.project import Project, modelled_project
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def committed_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = modelled_project(tmp_path_factory.mktemp("committed") / "project")
    repository(made.record()).commit("first")
    return made.root


@pytest.fixture
def committed(committed_template: Path, tmp_path: Path) -> Project:
    """A copy of the project; its temporary folder is ``tmp``, beside it."""
    shutil.copytree(committed_template, tmp_path / "project")
    (tmp_path / "tmp").mkdir()
    environment = {"GIT_CEILING_DIRECTORIES": str(tmp_path), "TMPDIR": str(tmp_path / "tmp")}
    return Project(tmp_path / "project", environment)


@pytest.fixture
def git(committed: Project) -> Repository:
    """The project's repository."""
    return Repository(committed.root)

"""Repositories that the workflows run on: with the fake tracer, and with torch."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.act.workflow import Act
from tests.project import ROOT, Project, modelled_project
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHECKS = """
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from guard import MakeFx


def step(x, y):
    return (x @ y).relu().sum()


def nested(x):
    make_fx(torch.sin, tracing_mode="symbolic")(x)
    return x * 2


def test_step(guard):
    guard.check(step, torch.ones(4, 8), torch.ones(8, 2), tracer=MakeFx(tracing_mode="fake"))


def test_nested(guard):
    guard.check(nested, torch.ones(3), tracer=MakeFx())
"""


def initialize(project: Project, *flags: str) -> None:
    """Run ``guard init``, and make room for other checks."""
    ran = project.guard("init", *flags)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (project.root / "checks/test_example.py").unlink(missing_ok=True)  # only where there was no check


def adopt(project: Project) -> None:
    """Record a project and commit it, with the workflows and the action of this one beside its own."""
    for path in (ROOT / ".github/workflows").iterdir():
        project.write(f".github/workflows/own-{path.name}", path.read_text(encoding="utf-8"))
    shutil.copy(ROOT / "action.yml", project.root)
    record(project, Repository(project.root))


def record(project: Project, made: Repository) -> None:
    """Record a project, and commit its repository."""
    project.record()
    made.git("remote", "add", "origin", "https://github.com/owner/project.git")
    made.commit("first")


@pytest.fixture(scope="session")
def fake_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checks, a second each, and what ``guard init`` adds for a GPU."""
    made = modelled_project(tmp_path_factory.mktemp("fake") / "project")
    repository(made.root)
    initialize(made, "--gpu-runner", "gpu")
    adopt(made)
    return made.root


@pytest.fixture(scope="session")
def torch_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``guard init`` makes of an empty repository, with two checks for its example."""
    made = Project(tmp_path_factory.mktemp("torch") / "project")
    repository(made.root)
    initialize(made)
    made.checks(CHECKS, "test_model")
    adopt(made)
    return made.root


@pytest.fixture
def act_on(tmp_path: Path) -> Callable[[Path], Act]:
    """Act, on a copy of a repository."""

    def copy(template: Path) -> Act:
        shutil.copytree(template, tmp_path / "project")
        return Act(Repository(tmp_path / "project"), tmp_path / "act")

    return copy


@pytest.fixture
def fake(act_on: Callable[[Path], Act], fake_template: Path) -> Act:
    return act_on(fake_template)


@pytest.fixture
def real(act_on: Callable[[Path], Act], torch_template: Path) -> Act:
    return act_on(torch_template)


@pytest.fixture
def below(tmp_path: Path) -> Act:
    """A project in a folder of its repository, with the workflow of ``guard init``."""
    top = repository(tmp_path / "project")
    made = modelled_project(top.top / "product")
    initialize(made)
    record(made, top)
    return Act(top, tmp_path / "act")

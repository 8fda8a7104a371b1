"""The commands in the blocks of the reference pages, each in a project where something waits; its tracer is a fake."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import PAGES, Command, Page, Shell, shown_commands
from tests.project import ROOT, Project, empty_project
from tests.repository import repository

if TYPE_CHECKING:
    from pathlib import Path

STEP = """
import pytest
from model import ops
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_forward(guard, dtype): guard.check(ops, tracer=None)
"""
SETTING = (
    '[tool.guard]\nworkers = 1\n\n[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider"\npythonpath = ["."]\n'
)
# What each exits with where "step::forward" drifts
CODES = {
    "guard check": 1,
    'guard check --against 3f2a91c0de "step::forward"': 1,
    "guard check --against origin/main": 1,
    "guard check --format json": 1,
    "guard review --list": 0,
    "guard review --list --format json": 0,
    'guard accept "step::forward[f32]"': 0,
    'guard reject "step::forward[f32]"': 0,
    "guard diff before.graph after.graph": 1,
    'guard diff "step::forward[f32]"': 1,
    'guard diff "step::forward[f32]" after.graph': 1,
    "guard diff --since origin/main": 0,
    "guard diff --since origin/main --format markdown": 0,
}
# Need torch, a terminal, or another machine: their own tests run them as they stand
ELSEWHERE = {
    "guard bench": "tests/commands/test_bench.py",
    "guard review": "tests/commands/test_review.py",
    "guard selftest": "tests/commands/test_selftest.py",
    "guard accept --from": "tests/commands/test_accept_from.py",
}
# Their commands are run in order, with what they print: tests/docs/test_commands.py
TOLD = ("tutorial", "hooks", "recipes", "moving-counts")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = empty_project(tmp_path_factory.mktemp("reference") / "project")
    made.write("pyproject.toml", SETTING)
    made.write(".gitignore", "__pycache__/\n.guard/\n")
    made.write("model.py", 'def ops(): return ["aten.sin.default"]\n')
    made.checks(STEP, "test_step")
    assert made.guard("update").returncode == 0
    git = repository(made.root)
    git.commit()
    git.git("tag", "3f2a91c0de")
    git.git("update-ref", "refs/remotes/origin/main", "HEAD")
    made.write("model.py", 'def ops(): return ["aten.cos.default"]\n')
    assert made.guard("check").returncode == 1
    shutil.copy(made.root / "baselines/step/forward[f32].graph", made.root / "before.graph")
    shutil.copy(made.root / ".guard/pending/step/forward[f32].graph", made.root / "after.graph")
    return made.root


def test_every_command_in_a_block_is_run_somewhere() -> None:
    """A new one: add it to CODES with what it exits with, and it is run."""
    pages = [page for page in PAGES if page.stem not in TOLD]
    named = {command for page in pages for command in shown_commands(page.read_text(encoding="utf-8"))}
    left = {command for command in named - CODES.keys() if not command.startswith(tuple(ELSEWHERE))}
    assert left == set()
    assert CODES.keys() <= named
    assert all((ROOT / test).is_file() for test in ELSEWHERE.values())


@pytest.mark.parametrize("command", CODES)
def test_it_exits_as_documented(template: Path, tmp_path: Path, command: str) -> None:
    shutil.copytree(template, tmp_path / "project")
    assert Shell(Project(tmp_path / "project")).run([Command(command, CODES[command])]) == []


@pytest.mark.parametrize("name", TOLD)
def test_the_other_pages_show_what_is_printed(name: str) -> None:
    (path,) = (page for page in PAGES if page.stem == name)
    assert any(command.shown for command in Page(path).commands())

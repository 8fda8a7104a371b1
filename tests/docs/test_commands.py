"""The documentation is what happens: every command parses, and those that are shown with their output give it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from guard.commands.arguments import parse
from guard.commands.verbs import VERBS
from guard.config import KEYS, load
from guard.errors import UsageError
from tests.docs.pages import PAGES, Command, Page, Shell, named_commands, parsed
from tests.project import ROOT, Project, empty_project
from tests.repository import repository

if TYPE_CHECKING:
    from pathlib import Path

STEP = """
def test_forward(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)
def test_backward(guard): guard.check(lambda: ["aten.cos.default"], tracer=None)
def test_both(guard): guard.check(lambda: ["aten.tan.default"], tracer=None)
"""


@pytest.mark.parametrize("path", PAGES, ids=[path.name for path in PAGES])
def test_every_command_that_is_named_parses(path: Path) -> None:
    for command in named_commands(path.read_text(encoding="utf-8")):
        verb, arguments = parsed(command)
        assert verb in VERBS, command
        if arguments:  # a bare verb is its name
            try:
                parse(verb, arguments)
            except UsageError as error:  # as is a flag without what it takes
                assert f"argument {arguments[-1]}: expected one argument" in error.problem, command  # noqa: PT017 - either


def test_the_readme_has_every_verb() -> None:
    rows = [
        line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `guard ")
    ]
    assert {row.split("`")[1].split()[1] for row in rows} == set(VERBS)


def test_the_configuration_s_page_has_every_key() -> None:
    page = Page(ROOT / "docs/config.md")
    rows = [
        line.split("`")[1] for line in page.text.partition("## Environment")[0].splitlines() if line.startswith("| `")
    ]
    assert sorted(rows) == sorted(KEYS)
    (example,) = page.blocks("toml")
    named = {line.split(" ")[0] for line in example.partition("[tool.guard.policy]")[0].splitlines() if " = " in line}
    assert named == set(KEYS) - {"policy"}


def test_the_configuration_s_example_is_one(tmp_path: Path) -> None:
    (example,) = Page(ROOT / "docs/config.md").blocks("toml")
    (tmp_path / "pyproject.toml").write_text(example)
    assert load(tmp_path).trace_tolerance == 0.02


@pytest.fixture
def step(tmp_path: Path) -> Project:
    """A project with three baselines, all of them committed; its tracer is a fake."""
    project = empty_project(tmp_path / "project")
    project.write(".gitignore", ".guard/\n__pycache__/\n")
    project.checks(STEP, "test_step")
    assert project.guard("update").returncode == 0
    repository(project.root).commit()
    return project


def test_verify_as_the_hooks_page_shows_it(step: Project) -> None:
    commands = [one for one in Page(ROOT / "docs/hooks.md").commands() if one.text.startswith("guard")]
    assert len(commands) > 1
    assert Shell(step).run(commands) == []


def test_a_page_that_lies_is_caught(step: Project) -> None:
    shell = Shell(step)
    assert shell.run([Command("guard list", 0, ['"step::both"', "..."])]) != []  # planted: half of the line
    assert shell.run([Command("guard list", 1)]) != []
    assert shell.run([Command("false", 0)]) != []
    assert shell.run([Command("guard list", 0, ['"step::forward"   baseline', '"step::both"      baseline'])]) != []
    assert shell.run([Command("guard list", 0, ['"step::both"      baseline', "..."]), Command("true", 0)]) == []


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_the_tutorial(tmp_path: Path) -> None:
    """With torch, git and pre-commit, as a reader does it."""
    project = Project(tmp_path / "project")
    project.root.mkdir()
    if shutil.which("pre-commit", path=Shell(project).environment["PATH"]) is None:
        pytest.skip("pre-commit is not installed: see group dev")
    assert (
        Shell(project, {"PRE_COMMIT_HOME": str(tmp_path / "home")}).run(Page(ROOT / "docs/tutorial.md").commands())
        == []
    )


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["recipes", "moving-counts"])
def test_checks_and_commands_of_a_page(tmp_path: Path, name: str) -> None:
    """With torch: each module that the page shows, and the commands below it."""
    page = Page(ROOT / f"docs/{name}.md")
    project = Project(tmp_path / "project")
    project.write("pyproject.toml", "[tool.guard]\n")
    for path, text in page.files().items():
        project.write(path, text)
    repository(project.root).commit()
    assert Shell(project).run(page.commands()) == []
    assert project.guard("check").returncode == 0

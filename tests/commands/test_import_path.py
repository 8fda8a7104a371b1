from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from guard.commands.import_path import mapped

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    """Today's work tree and a commit's, which has no ``later``."""
    for name in ("today/src/pack", "today/later", "today/.venv/lib/site-packages", "commit/src/pack"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "today", tmp_path / "commit"


def test_what_leads_into_the_work_tree_leads_to_the_commit(trees: tuple[Path, Path], tmp_path: Path) -> None:
    top, tree = trees
    installed = top / ".venv/lib/site-packages"
    paths = [str(top), str(top / "src"), str(top / "later"), str(installed), str(tmp_path), "/usr/lib/python.zip"]
    assert mapped(paths, top, tree) == [
        str(tree),
        str(tree / "src"),
        # what the commit does not have is not found in today's
        str(installed),
        str(tmp_path),
        "/usr/lib/python.zip",
    ]


def test_the_working_directory_is_led_too(trees: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    top, tree = trees
    monkeypatch.chdir(top / "src")
    assert mapped([""], top, tree) == [str(tree / "src")]
    monkeypatch.chdir(top.parent)
    assert mapped([""], top, tree) == [str(top.parent)]


def test_a_package_that_is_installed_by_a_finder_is_put_on_the_path(
    trees: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    top, tree = trees
    finder = ModuleType("__editable___pack_1_0_finder")
    finder.MAPPING = {"pack": str(top / "src/pack")}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    assert mapped(["/elsewhere"], top, tree) == [str(tree / "src"), "/elsewhere"]

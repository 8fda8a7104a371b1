from __future__ import annotations

import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from guard.baselines.git import GitError
from guard.baselines.history import open_repository
from guard.commands.worktree import checked_out
from tests.repository import repository

if TYPE_CHECKING:
    from pathlib import Path


def test_a_commits_files_are_there_and_gone_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = repository(tmp_path / "work")
    made.write("model.py", "1\n")
    commit = made.commit()
    made.write("model.py", "2\n")
    with suppress(ZeroDivisionError), checked_out(open_repository(made.top), commit) as tree:
        assert (tree / "model.py").read_text() == "1\n"
        assert tree.name == "work"
        # as git leaves it where it is killed while it makes the tree
        made.git("worktree", "lock", "--reason", "initializing", str(tree))
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == [made.top]
    assert not (made.top / ".git/worktrees").exists()
    assert made.git("status", "--short") == " M model.py\n"


def test_a_tree_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = repository(tmp_path / "work")
    made.commit()
    with pytest.raises(GitError), checked_out(open_repository(made.top), "0" * 40):
        pass
    assert list(tmp_path.iterdir()) == [made.top]

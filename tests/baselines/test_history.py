"""What git tells of baselines, from real repositories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from guard.baselines import history
from guard.baselines.git import GitError
from guard.baselines.git import git as run
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = "baselines/it/one[a-*].graph", "baselines/it/two.graph"


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    """Two baselines, committed by the first commit."""
    found = repository(tmp_path / "work")
    found.write(ONE, "one 1\n")
    found.write(TWO, "two 1\n")
    found.write("model.py", "1\n")
    found.write("baselines/environment.toml", "then\n")
    found.commit("first")
    return found


def last(made: Repository, *paths: str) -> dict[str, str]:
    return history.last_changes(history.open_repository(made.top), paths or (ONE, TWO))


def test_the_commit_that_last_changed_each_file(made: Repository) -> None:
    first = made.git("rev-parse", "HEAD").strip()
    made.write(TWO, "two 2\n")
    second = made.commit()
    made.write("model.py", "2\n")
    made.commit()
    assert last(made) == {ONE: first, TWO: second}


def test_a_name_with_wildcards_is_that_file_alone(made: Repository) -> None:
    first = made.git("rev-parse", "HEAD").strip()
    made.write("baselines/it/one[a-b].graph", "other\n")
    made.write("baselines/it/onea.graph", "other\n")
    made.commit()
    assert last(made, ONE) == {ONE: first}


def test_a_name_is_no_magic(made: Repository) -> None:
    made.write(":(top)odd.py", "1\n")
    assert history.untracked(history.open_repository(made.top), (":(top)odd.py", "model.py")) == {":(top)odd.py"}


def test_what_is_not_committed_as_it_is_is_left_out(made: Repository) -> None:
    made.write(ONE, "one 2\n")
    made.write("baselines/it/three.graph", "new\n")
    assert set(last(made, ONE, TWO, "baselines/it/three.graph")) == {TWO}
    made.git("add", "--all")
    assert set(last(made, ONE, TWO, "baselines/it/three.graph")) == {TWO}


def test_a_file_that_came_back_is_of_the_commit_that_brought_it(made: Repository) -> None:
    (made.top / ONE).unlink()
    made.commit()
    made.write(ONE, "one 1\n")
    brought = made.commit()
    assert last(made)[ONE] == brought


def test_a_merge_that_took_one_side_is_of_that_side(made: Repository) -> None:
    made.git("checkout", "-q", "-b", "side")
    made.write(ONE, "one side\n")
    made.write(TWO, "two side\n")
    made.commit()
    made.git("checkout", "-q", "main")
    made.write(ONE, "one main\n")
    ours = made.commit()
    made.git("merge", "-q", "-X", "ours", "side")
    # the side's commit is newer or as new, and touched both
    assert (made.top / ONE).read_text() == "one main\n"
    assert last(made) == {ONE: ours, TWO: made.git("rev-parse", "side").strip()}


def test_a_merge_that_made_something_else_is_itself_the_change(made: Repository) -> None:
    made.git("checkout", "-q", "-b", "side")
    made.write(ONE, "one side\n")
    made.commit()
    made.git("checkout", "-q", "main")
    made.write(ONE, "one main\n")
    made.commit()
    made.git("merge", "-q", "-X", "ours", "side")
    made.write(ONE, "one of both\n")
    made.git("commit", "-q", "--all", "--amend", "--no-edit")
    assert last(made)[ONE] == made.git("rev-parse", "HEAD").strip()


@pytest.mark.parametrize("key", ["log.showRoot false", "log.follow true", "diff.relative true", "color.ui always"])
def test_the_users_settings_do_not_matter(made: Repository, key: str) -> None:
    made.git("config", *key.split())
    assert last(made, ONE) == {ONE: made.git("rev-parse", "HEAD").strip()}


def test_many_files_are_asked_for_by_their_folder(made: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MANY", 1)
    assert set(last(made)) == {ONE, TWO}


def test_a_project_in_a_subfolder_has_its_own_paths(tmp_path: Path) -> None:
    made = repository(tmp_path)
    made.write(f"sub/{ONE}", "one\n")
    made.write("sub/environment.toml", "then\n")
    made.write("other.py", "1\n")
    commit = made.commit()
    found = history.open_repository(tmp_path / "sub")
    assert (found.top, found.prefix, found.head) == (tmp_path, "sub/", commit)
    assert history.last_changes(found, (ONE,)) == {ONE: commit}
    made.write("other.py", "2\n")
    made.write("sub/new.py", "2\n")
    assert history.changed_since(found, commit) == frozenset()
    assert history.untracked(found) == {"new.py"}
    assert history.texts(found, "environment.toml", [commit]) == {commit: "then\n"}


def test_changes_are_of_the_work_tree_and_of_commits(made: Repository) -> None:
    found = history.open_repository(made.top)
    made.write("model.py", "2\n")
    made.write("layers.py", "new\n")
    assert history.changed_since(found, found.head) == {"model.py"}
    second = made.commit()
    made.write("model.py", "1\n")
    # back to what it was: only layers.py is new
    assert history.changed_since(found, found.head) == {"layers.py"}
    assert history.changed_since(found, found.head, second) == {"layers.py", "model.py"}


def test_an_edit_in_the_second_of_the_commit_is_seen(made: Repository) -> None:
    made.git("config", "core.trustctime", "false")  # the one time that a test cannot set
    second = (1_000_000_000, 1_000_000_000)
    path = made.write("model.py", "3\n")
    os.utime(path, second)
    made.commit()
    os.utime(made.top / ".git/index", second)
    path.write_text("2\n")  # of the same size
    os.utime(path, second)
    found = history.open_repository(made.top)
    assert history.changed_since(found, found.head) == {"model.py"}


def test_untracked_files_and_ignored_ones_that_are_asked_for(made: Repository) -> None:
    made.write(".gitignore", "made.py\n")
    made.commit()
    made.write("made.py", "ignored\n")
    made.write("new.py", "new\n")
    found = history.open_repository(made.top)
    assert history.untracked(found) == {"new.py"}
    assert history.untracked(found, ("made.py", "model.py")) == {"made.py"}


def test_texts_of_a_file_at_commits(made: Repository) -> None:
    first = made.git("rev-parse", "HEAD").strip()
    (made.top / "baselines/environment.toml").unlink()
    second = made.commit()
    made.write("baselines/environment.toml", "now\n\n")
    third = made.commit()
    found = history.texts(history.open_repository(made.top), "baselines/environment.toml", [first, second, third])
    assert found == {first: "then\n", second: None, third: "now\n\n"}


def test_a_submodule_is_told(made: Repository, tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner")
    inner.commit()
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.top), "third_party/inner")
    commit = made.commit()
    assert history.submodules(history.open_repository(made.top), commit) == ("third_party/inner",)


def test_a_shallow_clone_knows_where_it_ends(made: Repository, tmp_path: Path) -> None:
    made.write("model.py", "2\n")
    made.commit()
    made.git("clone", "--quiet", "--depth=1", f"file://{made.top}", str(tmp_path / "clone"))
    found = history.open_repository(tmp_path / "clone")
    assert found.boundary == {found.head}
    # it seems to add everything, which is what the boundary is for
    assert history.last_changes(found, (ONE,)) == {ONE: found.head}
    with pytest.raises(GitError, match='"HEAD~1" names no commit here\n  git fetch --unshallow'):
        history.resolve(found, "HEAD~1")


def test_refs_of_all_kinds(made: Repository) -> None:
    made.git("tag", "-a", "v1", "-m", "annotated")
    found = history.open_repository(made.top)
    for ref in ("v1", "main", "HEAD", found.head[:8]):
        assert history.resolve(found, ref) == found.head
    for ref in ("nope", "--help", "HEAD:model.py", ""):
        with pytest.raises(GitError, match="names no commit here"):
            history.resolve(found, ref)


def test_a_detached_head_is_as_good_as_any(made: Repository) -> None:
    made.git("checkout", "-q", "--detach")
    assert set(last(made)) == {ONE, TWO}


def test_what_a_git_hook_sets_for_itself_is_not_heard(
    made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "no-such-index"))
    monkeypatch.setenv("GIT_ICASE_PATHSPECS", "1")
    assert set(last(made)) == {ONE, TWO}


def test_reading_leaves_the_index_alone(made: Repository) -> None:
    os.utime(made.top / "model.py", (1, 1))  # git would like to note that it is the same
    before = (made.top / ".git/index").read_bytes()
    found = history.open_repository(made.top)
    history.last_changes(found, (ONE,))
    history.changed_since(found, found.head)
    assert (made.top / ".git/index").read_bytes() == before


def test_no_repository_no_commit_no_work_tree_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    with pytest.raises(GitError, match="there is no git repository"):
        history.open_repository(tmp_path / "plain")
    with pytest.raises(GitError, match="no commit yet"):
        history.open_repository(repository(tmp_path / "empty").top)
    repository(tmp_path / "bare").git("init", "--quiet", "--bare", str(tmp_path / "bare.git"))
    with pytest.raises(GitError, match="bare"):
        history.open_repository(tmp_path / "bare.git")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"):
        history.open_repository(tmp_path / "plain")


def test_a_git_that_does_not_answer_is_left(made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitError, match='"git status" did not end in 0 s'):
        run(made.top, "-c", "a.b=c", "status", patience=0.2)

"""What has to be traced again after an edit, and what need not: one plant each."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from guard.freshness.held import Fresh, look
from tests.freshness.conftest import CHECKS, EVERY

if TYPE_CHECKING:
    from tests.freshness.conftest import Edits, Memory

A = {"a::lazy", "a::named[first]", "a::named[second]", "a::one"}
NAMED = {"a::named[first]", "a::named[second]"}
B = {"b::data", "b::late", "b::optional", "b::tree"}
EDITED = {
    "src/model.py": A,
    "src/deep.py": A,
    "src/lazy.py": {"a::lazy"},
    "src/programs/first.py": NAMED,
    "src/unused.py": set(),
    "data/ops.txt": {"b::data"},
    "checks/test_b.py": B,
    "checks/sub/notes.json": {"sub/c::library"},
    "checks/conftest.py": EVERY,
    "conftest.py": EVERY,
    "pyproject.toml": EVERY,
    "../site/library.py": EVERY,
    "../site/library-1.0.dist-info/RECORD": EVERY,
    "../edited/edited/__init__.py": EVERY,
    "../edited/edited/lib.so": EVERY,
    "baselines/b/tree.graph": {"b::tree"},
    "baselines/environment.toml": set(),
}
NEW = {
    "data/many/sin.txt": {"b::tree"},
    "data/optional.txt": {"b::optional"},
    "data/other.txt": set(),
    "checks/sub/more.json": {"sub/c::library"},
    "checks/sub/conftest.py": EVERY,  # before checks/conftest.py on the path
    "checks/__init__.py": EVERY,
    "checks/model.py": EVERY,  # before src on the path
    "checks/dataclasses.py": EVERY,  # before Python's own
    "src/library.py": EVERY,  # before the installed one
    "src/pkg/extra.py": EVERY,  # was asked for, and was not there
    "src/pkg/other.py": set(),
    "checks/nobody_asked.py": set(),
    "checks/test_new.py": set(),
    "checks/.test_a.py.swp": set(),
    "pytest.ini": EVERY,
    "../site/other-2.0.dist-info/RECORD": EVERY,
    "baselines/b/tree.cost.json": {"b::tree"},
    "baselines/b/old.graph": set(),
}


def test_what_held_is_remembered_but_for_what_left_the_process(checked: Memory) -> None:
    found = checked.look()
    assert {one.test for one in found.held} == EVERY
    assert not found.whole
    assert len(found.known) == 12


@pytest.mark.parametrize("name", EDITED)
def test_an_edited_file_is_news_to_what_depends_on_it(checked: Memory, edits: Edits, name: str) -> None:
    path = checked.project.root / name
    edits.write(name, path.read_text(encoding="utf-8") + "\n")
    assert checked.moved() == EDITED[name]


@pytest.mark.parametrize("name", NEW)
def test_a_new_file_is_news_to_what_would_have_read_it(checked: Memory, edits: Edits, name: str) -> None:
    edits.write(name, "")
    assert checked.moved() == NEW[name]


@pytest.mark.parametrize(
    "name", ["checks/test_new.py", "checks/nobody_asked.py", "checks/deep/test_new.py", "baselines/b/old.graph"]
)
def test_a_new_file_may_be_a_check_or_an_orphan(checked: Memory, edits: Edits, name: str) -> None:
    edits.write(name, "")
    assert checked.look().known == ()


def test_a_file_that_is_gone(checked: Memory, edits: Edits) -> None:
    edits.remove("checks/test_b.py")
    found = checked.look()
    assert EVERY - {one.test for one in found.held} == B
    assert found.known == ()


def test_a_baseline_that_is_gone_or_has_another_name(checked: Memory, edits: Edits) -> None:
    edits.rename("baselines/b/tree.graph", "baselines/b/trees.graph")
    assert checked.moved() == {"b::tree"}
    assert checked.look().known == ()


def test_another_version_of_a_package(checked: Memory, edits: Edits) -> None:
    edits.rename("../site/library-1.0.dist-info", "../site/library-1.1.dist-info")
    assert checked.moved() == EVERY


@pytest.mark.parametrize("name", ["MODEL_FLAG", "MODEL_LATE"], ids=["on import", "while traced"])
def test_a_variable_that_was_read(checked: Memory, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    assert checked.moved() == B
    monkeypatch.setenv("MODEL_OTHER", "1")
    monkeypatch.delenv(name)
    assert checked.moved() == set()


def test_an_edit_that_puts_size_and_time_back(checked: Memory, edits: Edits) -> None:
    path = checked.project.root / "src/lazy.py"
    before = path.stat()
    edits.write("src/lazy.py", CHECKS["src/lazy.py"].replace("tan", "sin"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert checked.moved() == {"a::lazy"}


def test_what_was_only_touched_has_not_moved_and_is_read_once_more(checked: Memory) -> None:
    for name in CHECKS:
        if not name.endswith(".so"):  # its stamp is all that is known of it
            os.utime(checked.project.root / name)
    time.sleep(0.05)  # a time of now proves nothing yet
    assert checked.moved() == set()
    refreshed = Path(checked.path).stat().st_ino
    assert checked.moved() == set()
    assert Path(checked.path).stat().st_ino == refreshed


def test_nothing_is_remembered_in_other_surroundings(checked: Memory) -> None:
    assert look(checked.path, "0" * 64) == Fresh()

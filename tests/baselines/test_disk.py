from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from guard.baselines.disk import TEMPORARY, drop_leftovers, open_state, remove, write_whole


def test_a_file_is_written_in_new_folders_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.graph"
    write_whole(path, b"one\r\n")
    write_whole(path, b"two\n")
    assert path.read_bytes() == b"two\n"
    assert os.listdir(path.parent) == ["b.graph"]  # noqa: PTH208 - names are what is compared


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_mode_is_the_umask_s(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_file_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "a"
    write_whole(path, b"before")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os if step == "fsync" else Path, step, full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert [found.name for found in tmp_path.iterdir()] == ["a"]


def test_remove_takes_empty_folders_up_to_the_top(tmp_path: Path) -> None:
    write_whole(tmp_path / "top" / "a" / "b" / "c", b"")
    write_whole(tmp_path / "top" / "a" / "d", b"")
    remove(tmp_path / "top" / "a" / "b" / "c", tmp_path / "top")
    assert [found.name for found in (tmp_path / "top" / "a").iterdir()] == ["d"]
    remove(tmp_path / "top" / "a" / "d", tmp_path / "top")
    remove(tmp_path / "top" / "a" / "d", tmp_path / "top")
    assert list((tmp_path / "top").iterdir()) == []


def test_leftovers_of_killed_writers_go_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b.graph", b"")
    (tmp_path / "a" / f"{TEMPORARY}77").write_bytes(b"half")
    drop_leftovers(tmp_path)
    assert [found.name for found in (tmp_path / "a").iterdir()] == ["b.graph"]


def test_the_state_folder_ignores_itself(tmp_path: Path) -> None:
    assert open_state(tmp_path / ".guard") == tmp_path / ".guard"
    assert (tmp_path / ".guard" / ".gitignore").read_text() == "*\n"

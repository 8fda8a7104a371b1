"""The manifest's file: what was written is read, and everything else is none."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from guard.freshness.held import Contents, Fresh, dump, load, look
from guard.freshness.look import Look
from guard.freshness.manifest import FIRST, Manifest, drop, place, read, write
from guard.freshness.rows import FILE, TICK, UNTRUSTED, stamp, trusted, value

if TYPE_CHECKING:
    from pathlib import Path

EMPTY = dump(Contents((), frozenset(), frozenset(), {}, ()))


def row(path: Path, mark: str | None = None) -> str:
    subject = str(path)
    return "\t".join((FILE, stamp(subject) if mark is None else mark, value(FILE, subject), subject))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A manifest of one file, that is there."""
    (tmp_path / "file.py").write_text("1", encoding="ascii")
    path = tmp_path / "cache/held"
    assert write(str(path), Manifest("surroundings", "1 2 3 4", [row(tmp_path / "file.py")], EMPTY))
    return path


def test_what_was_written_is_read(written: Path) -> None:
    found = read(str(written))
    assert found is not None
    assert (found.surroundings, found.summary, len(found.rows), found.checks) == ("surroundings", "1 2 3 4", 1, EMPTY)
    assert [path.name for path in written.parent.iterdir()] == ["held"]


def test_no_manifest_is_read_in_another_place(written: Path, tmp_path: Path) -> None:
    """A cache that was restored, a checkout that was copied, a file that somebody committed."""
    shutil.copy2(written, tmp_path / "copy")
    assert read(str(tmp_path / "copy")) is None
    os.link(written, tmp_path / "link")
    assert read(str(tmp_path / "link")) is not None


def test_a_torn_or_changed_file_is_none(written: Path) -> None:
    data = written.read_bytes()
    for end in range(0, len(data), 7):
        written.write_bytes(data[:end])
        assert read(str(written)) is None, end
    for place_ in range(0, len(data), 11):
        changed = bytearray(data)
        changed[place_] ^= 0x11
        written.write_bytes(bytes(changed))
        assert read(str(written)) is None, place_
    written.write_bytes(data)
    assert read(str(written)) is not None


@pytest.mark.parametrize(
    "rows",
    [["file"], ["a\tb\tc"], ["unknown\t\t\tx"], ["file\t1 2 3 4\t\t\0"], ["imports\t\t\t/"] * 2 + ["\t\t\t"]],
    ids=["one word", "three words", "unknown kind", "null", "nothing"],
)
@pytest.mark.parametrize("checks", [EMPTY, "", "[]", "{}", "null", "[" * 100_000], ids=str.__len__)
def test_what_is_sealed_but_makes_no_sense_is_none(written: Path, rows: list[str], checks: str) -> None:
    assert write(str(written), Manifest("s", "1 2 3 4", rows, checks))
    found = look(str(written), "s")
    assert (found.held, found.known, found.whole) == ((), (), False)


def test_contents_are_read_as_written(written: Path) -> None:
    contents = Contents(("a::b",), frozenset((1, 2)), frozenset((3,)), {4: frozenset("x")}, ())
    assert load(dump(contents)) == contents
    assert json.loads(dump(contents))["everybody"] == [1, 2]
    assert look(str(written), "other") == Fresh()


def test_a_folder_in_its_place_is_none_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "held"
    path.mkdir()
    assert read(str(path)) is None
    assert not write(str(path), Manifest("s", "1 2 3 4", [], EMPTY))
    assert list(tmp_path.iterdir()) == [path]
    drop(str(path))


def test_a_stamp_that_is_as_young_as_the_look_is_not_trusted(written: Path) -> None:
    """The racy rule of git: an edit within the same tick of the clock would have the same stamp."""
    mark = stamp(str(written))
    youngest = max(int(number) for number in mark.split(" ")[:2])
    assert trusted(mark, youngest) == UNTRUSTED
    assert trusted(mark, youngest + TICK + 1) == mark


def test_a_file_with_an_untrusted_stamp_is_read_until_it_can_be_trusted(written: Path, tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    write(str(written), Manifest("s", "1 2 3 4", [row(file, UNTRUSTED)], EMPTY))
    time.sleep(2 * TICK / 1e9)
    found = read(str(written))
    assert found is not None
    seen = Look(found, str(written))
    assert seen.moved == set()
    seen.keep()
    found = read(str(written))
    assert found is not None
    assert found.rows == [row(file)]
    file.write_text("2", encoding="ascii")
    assert Look(found, str(written)).moved == {0}


def test_the_file_is_below_the_cache_and_names_its_format(tmp_path: Path) -> None:
    assert place(str(tmp_path)) == str(tmp_path / "cache/held")
    assert FIRST.startswith("graph-guard held ")

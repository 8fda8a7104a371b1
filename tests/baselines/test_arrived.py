"""Files of strangers: read within limits, nothing followed, nothing unpacked."""

from __future__ import annotations

import os
import stat
import struct
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from guard.baselines import arrived
from guard.baselines.arrived import ArrivedError, read_arrived

if TYPE_CHECKING:
    from pathlib import Path


def everything(_: str) -> bool:
    return True


def zipped(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return path


def folder(path: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


FILES = {"b/c.txt": b"2", "a.txt": b"1", "b/skip": b"3"}


@pytest.mark.parametrize("make", [folder, zipped])
def test_what_is_wanted_is_read_in_the_order_of_names(tmp_path: Path, make: object) -> None:
    path = make(tmp_path / "x", FILES)  # type: ignore[operator]
    assert list(read_arrived(path, lambda name: name.endswith(".txt")).items()) == [("a.txt", b"1"), ("b/c.txt", b"2")]


@pytest.mark.parametrize("name", ["../a", "b/../../a", "/a", "C:/a", "a\\..\\b", "..", "a:b"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArrivedError, match="leads out of it"):
        read_arrived(zipped(tmp_path / "x.zip", {"fine": b"", name: b"x"}), lambda one: one == "fine")


def test_a_name_is_not_cut_at_a_nul(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"run.jsonX../x": b"x"})
    path.write_bytes(path.read_bytes().replace(b"run.jsonX", b"run.json\0"))
    with pytest.raises(ArrivedError, match=r"run\.json\\x00\.\./x"):
        read_arrived(path, everything)


def test_a_name_cannot_command_a_terminal(tmp_path: Path) -> None:
    with pytest.raises(ArrivedError, match=r"\\x1b\[2J") as refused:
        read_arrived(zipped(tmp_path / "x.zip", {"../\x1b[2J": b""}), everything)
    assert "\x1b" not in refused.value.problem


def test_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    there = folder(tmp_path / "x", {"a": b""})
    (there / "b").symlink_to("../secret")
    with pytest.raises(ArrivedError, match=r'"b" in ".*" is a link'):
        read_arrived(there, everything)
    info = zipfile.ZipInfo("b")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(ArrivedError, match=r'"b" in ".*" is a link'):
        read_arrived(tmp_path / "x.zip", everything)


def test_a_folder_behind_a_link_is_not_entered(tmp_path: Path) -> None:
    folder(tmp_path / "secret", {"a": b"x"})
    there = folder(tmp_path / "x", {"b": b""})
    (there / "c").symlink_to("../secret")
    assert list(read_arrived(there, everything)) == ["b"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in the file system")
def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(folder(tmp_path / "x", {"a": b""}) / "b")
    with pytest.raises(ArrivedError, match=r'"b" in ".*" is no file'):
        read_arrived(tmp_path / "x", everything)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrived, "ONE", 1 << 20)
    path = zipped(tmp_path / "x.zip", {"a": b"\0" * (2 << 20)})
    assert path.stat().st_size < 10_000
    asked: list[int] = []
    read = zipfile.ZipExtFile.read

    def spy(stream: zipfile.ZipExtFile, n: int = -1) -> bytes:
        asked.append(n)
        return read(stream, n)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", spy)
    with pytest.raises(ArrivedError, match='"a" has more than 1 MiB'):
        read_arrived(path, everything)
    assert asked == [(1 << 20) + 1]


def test_a_bomb_that_lies_about_its_size_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrived, "ONE", 1 << 20)
    path = zipped(tmp_path / "x.zip", {"a": b"\0" * (2 << 20)})
    said, lie = struct.pack("<I", 2 << 20), struct.pack("<I", 10)
    assert path.read_bytes().count(said) == 2
    path.write_bytes(path.read_bytes().replace(said, lie))
    with pytest.raises(ArrivedError):
        read_arrived(path, everything)


@pytest.mark.parametrize("make", [folder, zipped])
def test_many_files_and_many_bytes_are_refused(tmp_path: Path, make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "x", {str(n): b"12345" for n in range(8)})  # type: ignore[operator]
    monkeypatch.setattr(arrived, "FILES", 7)
    with pytest.raises(ArrivedError, match="more than 7 files"):
        read_arrived(path, everything)
    monkeypatch.setattr(arrived, "FILES", 8)
    assert len(read_arrived(path, everything)) == 8
    monkeypatch.setattr(arrived, "ALL", 39)
    with pytest.raises(ArrivedError, match="is too large"):
        read_arrived(path, everything)


def test_a_zip_file_itself_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrived, "PACKED", 10)
    with pytest.raises(ArrivedError, match="too large"):
        read_arrived(zipped(tmp_path / "x.zip", FILES), everything)


def test_one_name_twice_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"aa": b"1", "ab": b"2"})
    path.write_bytes(path.read_bytes().replace(b"ab", b"aa"))
    with pytest.raises(ArrivedError, match='"aa" twice'):
        read_arrived(path, everything)


def test_damage_anywhere_is_an_error_of_the_file_not_of_guard(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "x.zip", FILES).read_bytes()
    path = tmp_path / "y.zip"
    for place in range(0, len(whole), 3):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]):
            path.write_bytes(damaged)
            try:
                read_arrived(path, everything)
            except ArrivedError:
                continue


def test_an_encrypted_or_missing_one_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1"}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[6] |= 1  # general purpose flag, bit 0: local header, then the directory's
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ArrivedError, match="encrypted"):
        read_arrived(path, everything)
    with pytest.raises(ArrivedError, match="cannot be read"):
        read_arrived(tmp_path / "nowhere", everything)

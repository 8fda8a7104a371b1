"""Files of another machine, from a folder or a zip file: read into memory, within limits. Nothing is unpacked."""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from stat import S_ISLNK, S_ISREG
from typing import TYPE_CHECKING

from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILES = 50_000
"""Names in one zip file or folder."""
ONE = 64 << 20
"""Bytes of one file. A report of 10,000 checks is 10 MB, the largest baseline of a model's step 4 MB."""
ALL = 512 << 20
"""Bytes of everything that is read of one zip file or folder."""
PACKED = 256 << 20
"""Bytes of a zip file itself: its directory is read whole, whatever is in it."""
# What zipfile raises on bytes that are no zip file, each seen on a damaged one
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError)


class ArrivedError(GuardError):
    """A folder or a zip file that is not what guard takes; nothing of it was used."""


def read_arrived(path: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the files that are wanted, by their names below ``path`` with ``/``, in the order of names.

    Raises:
        ArrivedError: It is not there, damaged, too large, or holds what no upload of guard's does: a link, a name that
            leads out, the same name twice.
    """
    try:
        found = _zipped(path, wanted) if path.is_file() else _on_disk(path, wanted)
        return dict(sorted(_limited(path, found)))
    except ArrivedError:
        raise
    except OSError as error:
        raise ArrivedError(f'"{path}" cannot be read: {error.strerror or error}') from error
    except _DAMAGED as error:
        raise ArrivedError(f'"{path}" is no zip file that can be read: {error}') from error


def _limited(path: Path, found: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    seen: set[str] = set()
    total = 0
    for name, data in found:
        total += len(data)
        if total > ALL:
            raise _too_large(path, f"more than {ALL >> 20} MiB")
        if name in seen:
            raise ArrivedError(f'"{path}" holds "{printable(name)}" twice')
        seen.add(name)
        yield name, data


def _on_disk(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    def refuse(error: OSError) -> None:
        raise error

    number = 0
    for folder, _, names in os.walk(path, onerror=refuse):  # links to folders are not followed
        for name in names:
            number += 1
            if number > FILES:
                raise _too_large(path, f"more than {FILES} files")
            file = Path(folder, name)
            relative = file.relative_to(path).as_posix()
            if wanted(relative):
                yield relative, _read(path, file, relative)


def _read(path: Path, file: Path, relative: str) -> bytes:
    # not is_file(): between asking and opening a link may take its place
    descriptor = (
        os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        if not file.is_symlink()
        else None
    )
    if descriptor is None:
        raise ArrivedError(f'"{printable(relative)}" in "{path}" is a link')
    with os.fdopen(descriptor, "rb") as stream:
        if not S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ArrivedError(f'"{printable(relative)}" in "{path}" is no file')
        data = stream.read(ONE + 1)
    if len(data) > ONE:
        raise _too_large(path, f'"{printable(relative)}" has more than {ONE >> 20} MiB')
    return data


def _zipped(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    if path.stat().st_size > PACKED:
        raise _too_large(path, f"more than {PACKED >> 20} MiB")
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if len(entries) > FILES:
            raise _too_large(path, f"more than {FILES} files")
        for entry in entries:
            _refuse_name(path, entry)
            if not entry.is_dir() and wanted(entry.filename):
                with archive.open(entry) as stream:
                    data = stream.read(ONE + 1)  # what the directory says of its size may be a lie
                if len(data) > ONE:
                    raise _too_large(path, f'"{printable(entry.filename)}" has more than {ONE >> 20} MiB')
                yield entry.filename, data


def _refuse_name(path: Path, entry: zipfile.ZipInfo) -> None:
    # orig_filename: zipfile cuts a name at its first NUL
    name = entry.orig_filename
    if (
        PurePosixPath(name).is_absolute()
        or ".." in PurePosixPath(name).parts
        or any(letter in name for letter in "\\\0:")
    ):
        raise ArrivedError(f'"{path}" holds "{printable(name)}", which leads out of it')
    if S_ISLNK(entry.external_attr >> 16):
        raise ArrivedError(f'"{printable(name)}" in "{path}" is a link')


def printable(name: str) -> str:
    """Spell a name that a stranger chose so that it cannot command a terminal."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _too_large(path: Path, why: str) -> ArrivedError:
    return ArrivedError(f'"{path}" is too large: {why}')

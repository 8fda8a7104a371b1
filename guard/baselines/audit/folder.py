"""The files below ``baselines/`` as bytes, each read once. Judges none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.names import COST_SUFFIX, SUFFIX
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Found(NamedTuple):
    """One file."""

    path: str
    """Relative to the folder, with ``/``."""
    data: bytes


def read_folder(folder: Path, shown: str) -> tuple[Found, ...]:
    """Read every file below a folder, in the order of paths; none where there is no folder.

    A folder, pipe or link to nothing in a baseline's place is an empty file, which no baseline is; others are left out.

    Args:
        folder: absolute.
        shown: as messages print it.

    Raises:
        GuardError: A file or folder is there and cannot be read: what it holds would seem to be right.
    """
    try:
        return tuple(sorted(_walk(str(folder), "")))
    except OSError as error:
        path = Path(error.filename or folder)
        name = f"{shown}/{path.relative_to(folder).as_posix()}" if path != folder else shown
        raise GuardError(f'"{name}" cannot be read: {error.strerror}') from error


def _walk(folder: str, head: str) -> Iterator[Found]:
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            path = f"{head}{entry.name}"
            if entry.name.endswith((SUFFIX, COST_SUFFIX)) and not entry.is_file():
                yield Found(path, b"")
            elif entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, f"{path}/")
            elif entry.is_file():  # opening a pipe waits for ever
                yield Found(path, _read(entry.path))


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - a thousand Path objects are a third of the run
        return stream.readall()

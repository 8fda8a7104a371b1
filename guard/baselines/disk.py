"""Files that are whole or not there, and the git-ignored state folder. Knows no baseline."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TEMPORARY = ".guard-tmp-"


def write_whole(path: Path, data: bytes) -> None:
    """Put ``data`` into ``path`` so that a kill or a full disk at any moment leaves the file of before or of after.

    Raises:
        OSError: Nothing was changed; it names ``path``, or a folder on the way.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f"{TEMPORARY}{os.getpid()}"
    try:
        # not tempfile: its files are 0600, and a baseline has the mode that the umask gives
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException as error:
        if isinstance(error, OSError):  # it names the temporary file, both, or on a full disk none
            error.filename, error.filename2 = str(path), None
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut; Windows and some network file systems cannot open a folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(path: Path, top: Path) -> None:
    """Delete a file if it is there, then the folders that this left empty, up to ``top``."""
    path.unlink(missing_ok=True)
    prune(path.parent, top)


def prune(folder: Path, top: Path) -> None:
    """Delete a folder and those above it, below ``top``, as long as they are empty."""
    while folder != top and folder.is_relative_to(top):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def drop_leftovers(folder: Path) -> None:
    """Delete the temporary files of writers that were killed. The caller holds the lock."""
    for temporary in folder.rglob(f"{TEMPORARY}*"):
        with suppress(OSError):
            temporary.unlink()


def open_state(state: Path) -> Path:
    """Create the state folder, which git ignores by a file of its own, and return it."""
    ignore = state / ".gitignore"
    if not ignore.exists():
        write_whole(ignore, b"*\n")
    return state

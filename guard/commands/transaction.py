"""Several files, written all or none."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from guard.baselines.disk import prune, write_whole
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_all(files: Sequence[tuple[Path, bytes]], top: Path) -> None:
    """Write each file; where one fails, take back what was written before it.

    Args:
        files: absolute paths and contents.
        top: folder that stays: new ones below it go again, too.

    Raises:
        GuardError: Nothing is as it was not before.
    """
    before: list[tuple[Path, bytes | None, int]] = []
    try:
        for path, data in files:
            there = path.exists()
            mode = path.stat().st_mode & 0o7777 if there else 0
            before.append((path, path.read_bytes() if there else None, mode))
            write_whole(path, data)
            if there:  # a replaced file has a mode of its own
                path.chmod(mode)
    except OSError as error:
        for path, was, mode in reversed(before):
            _restore(path, was, mode, top)
        blamed = error.filename or files[len(before) - 1][0]
        raise GuardError(f'"{blamed}" cannot be written: {error.strerror}', "nothing was written") from error


def _restore(path: Path, data: bytes | None, mode: int, top: Path) -> None:
    with suppress(OSError):
        if data is None:
            path.unlink(missing_ok=True)
            prune(path.parent, top)
        elif path.read_bytes() != data:
            write_whole(path, data)
            os.chmod(path, mode)  # noqa: PTH101 - as it was

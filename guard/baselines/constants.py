"""Bytes of current's large constants: a graph's text has their digests alone, and ``guard bench`` computes with them.

``.guard/constants/``, one file a digest, named by it: two checks with one table share it. There only while something
waits. Knows no torch: bytes are row-major, of the dtype and shape that the text says.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from guard.baselines.disk import open_state, write_whole
from guard.ir.digest import digest_text, file_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from guard.config import Config

MAX_ONE = 256 << 20
"""Bytes of a constant that is kept."""
MAX_ALL = 1 << 30
"""Bytes of all of them: those that were not seen for longest go first."""


def folder(config: Config) -> Path:
    """Return where the bytes are."""
    return config.state / "constants"


def keep(config: Config, digest: str, data: bytes) -> bool:
    """Keep the bytes of a constant; return whether they are there now.

    Not kept is what is too large, and what its digest does not stand for: the program wrote it after it was traced.

    Raises:
        OSError: The state folder cannot be written.
    """
    name = file_name(digest)
    if name is None or len(data) > MAX_ONE or digest_text((data,)) != digest:
        return False
    path = folder(config) / name
    if path.exists():
        os.utime(path)
        return True
    open_state(config.state)
    _make_room(folder(config), MAX_ALL - len(data))
    write_whole(path, data)
    return True


def read(place: Path, digest: str) -> bytes | None:
    """Return the bytes that a digest stands for, None where they are not here or are others."""
    name = file_name(digest)
    if name is None:
        return None
    try:
        path = place / name
        data = path.read_bytes() if path.stat().st_size <= MAX_ONE else b""
    except OSError:
        return None
    return data if digest_text((data,)) == digest else None


def missing(config: Config, digests: Iterable[str]) -> tuple[str, ...]:
    """Return those digests that stand for bytes which were not kept."""
    return tuple(text for text in digests if (name := file_name(text)) and not (folder(config) / name).exists())


def forget(config: Config) -> None:
    """Delete all of them; what cannot be deleted stays, and is no harm."""
    with suppress(OSError):
        for path in folder(config).iterdir():
            path.unlink(missing_ok=True)
        folder(config).rmdir()


def _make_room(place: Path, most: int) -> None:
    """Delete the oldest until ``most`` bytes are left."""
    found = []
    with suppress(OSError):  # another worker may be at it
        found = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in place.iterdir())
    total = sum(size for _, size, _ in found)
    for _, size, path in found:
        if total <= most:
            return
        with suppress(OSError):
            path.unlink()
            total -= size

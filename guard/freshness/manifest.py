"""The manifest's file: what held when last looked, and all that this depended on. Whole, or none.

    graph-guard held 1
    <crc32 of the rest> <device and inode of this very file>
    <digest of the surroundings>
    <complete> <unchanged> <skipped> <need a fix>
    <one row a line>

    <JSON: which rows each check depends on>

The inode binds the file to this checkout: one that was copied, restored from a cache or committed by a stranger is
none, because nobody can foresee the inode that it is written to.
"""

from __future__ import annotations

import os
from zlib import crc32

TYPE_CHECKING = False  # typing costs a fifth of what the whole answer may
if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST = "graph-guard held 1"
NAME = "held"
MAX_BYTES = 64 << 20
_HEAD, _TAIL = 4, 3


class Manifest:
    """What was read; fields are text as written."""

    __slots__ = ("checks", "rows", "summary", "surroundings")

    def __init__(self, surroundings: str, summary: str, rows: Sequence[str], checks: str) -> None:
        self.surroundings = surroundings
        self.summary = summary
        self.rows = rows
        """Lines of guard.freshness.rows."""
        self.checks = checks
        """JSON; read by guard.freshness.held."""


def place(state: str) -> str:
    """Return the manifest's file below the state folder."""
    return os.path.join(state, "cache", NAME)


def read(path: str) -> Manifest | None:
    """Read a manifest; None where there is none, or none that this checkout wrote."""
    try:
        with open(path, "rb", buffering=0) as stream:
            found = os.fstat(stream.fileno())
            data = stream.read(MAX_BYTES)
    except OSError:
        return None
    head, _, rest = data.partition(b"\n")
    seal, _, body = rest.partition(b"\n")
    if head != FIRST.encode() or seal != _seal(body, found) or len(data) == MAX_BYTES:
        return None
    try:
        text, _, checks = body.decode().partition("\n\n")
    except UnicodeDecodeError:
        return None
    surroundings, _, text = text.partition("\n")
    summary, _, rows = text.partition("\n")
    return Manifest(surroundings, summary, rows.split("\n") if rows else [], checks)


def write(path: str, manifest: Manifest) -> bool:
    """Put a manifest in place of another, whole; return whether that could be done. Of two at once the last wins."""
    lines = (manifest.surroundings, manifest.summary, *manifest.rows, "", manifest.checks)
    body = "\n".join(lines).encode()
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "wb", buffering=0) as stream:
            stream.write(b"%s\n%s\n%s" % (FIRST.encode(), _seal(body, os.fstat(stream.fileno())), body))
        os.replace(temporary, path)
    except (OSError, ValueError):
        _drop(temporary)
        return False
    return True


def drop(path: str) -> None:
    """Forget what held."""
    _drop(path)


def _drop(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _seal(body: bytes, file: os.stat_result) -> bytes:
    return b"%08x %d:%d" % (crc32(body), file.st_dev, file.st_ino)

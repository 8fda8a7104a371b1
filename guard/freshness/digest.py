"""SHA-256 of bytes, files and folders. Imports no hashlib: loading OpenSSL takes as long as an empty interpreter."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing costs a fifth of what the whole answer may
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# Python's own, in the order of 3.12, 3.10; hashlib where a build has neither
_HOMES = ("_sha2", "_sha256", "hashlib")
_FOUND: list[Callable[[bytes], Any]] = []
"""Once it was asked for."""


def _find() -> Callable[[bytes], Any]:
    for name in _HOMES:
        try:
            found: Callable[[bytes], Any] = __import__(name).sha256
        except (ImportError, AttributeError):
            continue
        return found
    raise ImportError("no SHA-256")


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes as hex."""
    if not _FOUND:
        _FOUND.append(_find())
    found: str = _FOUND[0](data).hexdigest()
    return found


def file_digest(path: str) -> str:
    """Return the digest of a file, "" where it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as stream:
            return digest(stream.read())
    except (OSError, ValueError):
        return ""


def names_digest(names: Iterable[str]) -> str:
    """Return the digest of a set of names."""
    return digest("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))


def folder_digest(path: str) -> str:
    """Return the digest of what a folder holds, by name; "" where it cannot be listed."""
    try:
        return names_digest(name for name in os.listdir(path) if not is_noise(name))
    except (OSError, ValueError):
        return ""


def is_noise(name: str) -> bool:
    """Tell whether a name says nothing of a project: caches, and what an editor leaves while a file is open."""
    return name.startswith(".") or name.endswith(("~", ".pyc")) or name == "__pycache__"

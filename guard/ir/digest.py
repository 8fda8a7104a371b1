"""Digests that stand in a text for the bytes of a large constant: ``sha256:`` and 32 hex digits. Pure."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHAPE = re.compile(r"sha256:([0-9a-f]{32})")


def digest_text(chunks: Iterable[bytes]) -> str:
    """Return the text that stands for these bytes."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return f"sha256:{digest.hexdigest()[:32]}"


def file_name(text: str) -> str | None:
    """Return the digest's own part, which is safe as a file's name; None where the text stands for no bytes.

    Such are ``no-bytes`` (of a fake tensor), ``layout:...``, and whatever an edited file says.
    """
    found = _SHAPE.fullmatch(text)
    return found[1] if found is not None else None

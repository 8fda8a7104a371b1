"""Digests that stand in a text for the bytes of a large constant: ``sha256:`` and 32 hex digits. Pure."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from guard.ir.graph import Digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.ir.graph import Program

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


def digests_of(program: Program) -> tuple[str, ...]:
    """Digests of a program's constants, those of its bodies too; each once."""
    graphs = (*program.graphs, *program.bodies)
    args = (node.args[0] for graph in graphs for node in graph.nodes if node.target == "constant" and node.args)
    return tuple(dict.fromkeys(arg.text for arg in args if type(arg) is Digest))

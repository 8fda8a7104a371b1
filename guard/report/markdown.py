"""Text that stays text in markdown as GitHub renders it. Pure; knows no run."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~@&$-])")


def text(plain: str) -> str:
    """Escape what markdown, its tables, mentions and HTML would read."""
    return _SPECIAL.sub(r"\\\1", " ".join(plain.split()))


def html(plain: str) -> str:
    """Escape for the inside of an HTML element."""
    return escape(" ".join(plain.split())).replace("@", "&#64;")


def code(plain: str) -> str:
    """Make a code span, also within a table's cell."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    pad = " " if plain[:1] == "`" or plain[-1:] == "`" else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}".replace("|", r"\|")


def fence(lines: Sequence[str], language: str) -> Iterator[str]:
    """Make a fenced block that nothing in it can end."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    ticks = "`" * max(3, longest + 1)
    yield f"{ticks}{language}"
    yield from lines
    yield ticks

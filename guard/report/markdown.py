"""Text that stays text in markdown as GitHub renders it. Pure; knows no run."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from guard.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SPECIAL = re.compile(r"([\\`*_\[\]#|<>~&$])")


def text(plain: str) -> str:
    """Escape what markdown, its tables and HTML would read."""
    return _SPECIAL.sub(r"\\\1", _line(plain))


def html(plain: str) -> str:
    """Make an HTML code element."""
    return f"<code>{escape(_line(plain))}</code>"


def code(plain: str) -> str:
    """Make a code span: nobody is mentioned in one. Nothing has none."""
    plain = _line(plain)
    if not plain:
        return ""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    pad = " " if plain[:1] == "`" or plain[-1:] == "`" else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def cell(plain: str) -> str:
    """Make a code span that stands in a table."""
    return code(plain).replace("|", r"\|")


def fence(texts: Iterable[str], language: str) -> Iterator[str]:
    """Make a fenced block that nothing in it can end."""
    lines = [line for text in texts for line in clean(text).split("\n")]
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    ticks = "`" * max(3, longest + 1)
    yield f"{ticks}{language}"
    yield from lines
    yield ticks


def _line(plain: str) -> str:
    return " ".join(clean(plain).split())

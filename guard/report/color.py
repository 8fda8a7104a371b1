"""Colour on a terminal: a table of ANSI codes, and whether a stream wants them. Knows no run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

_RESET = "\x1b[0m"
_CODES = {"bad": "\x1b[1;31m", "news": "\x1b[1;33m", "good": "\x1b[32m", "added": "\x1b[32m", "removed": "\x1b[31m"}


def wanted(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Tell whether to colour: on a terminal that can, unless NO_COLOR (no-color.org) is set to anything."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def paint(text: str, style: str | None, *, color: bool) -> str:
    """Colour one piece of a line."""
    return f"{_CODES[style]}{text}{_RESET}" if color and style is not None else text

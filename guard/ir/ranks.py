"""Text of ranks: listed, or as a slice where many stand at one distance. A group of 64 ranks is no line to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.ir.lexer import Cursor

LISTED = 4
MOST = 1_000_000  # more ranks than any cluster has: a text must not make the reader fill the memory


def print_ranks(ranks: Sequence[int]) -> str:
    """Print ``0, 1``, and from five at one distance on ``0:64`` or ``0:57:8``: first, last + 1, distance."""
    step = ranks[1] - ranks[0] if len(ranks) > LISTED else 0
    if step > 0 and tuple(ranks) == tuple(range(ranks[0], ranks[-1] + 1, step)):
        return f"{ranks[0]}:{ranks[-1] + 1}" + (f":{step}" if step > 1 else "")
    return ", ".join(map(str, ranks))


def read_ranks(cursor: Cursor) -> tuple[int, ...]:
    """Read one rank, or a slice of them."""
    position = cursor.token.start
    first = cursor.integer("a rank")
    if not cursor.accept(":"):
        return (first,)
    stop = cursor.integer("the rank behind the last")
    step = cursor.integer("a distance") if cursor.accept(":") else 1
    if step < 1 or not 0 < stop - first <= MOST:
        raise cursor.error(f"ranks {first}:{stop}:{step} are not a slice of 1 to {MOST} ranks", position)
    return tuple(range(first, stop, step))

"""The note that a fix leaves when it really changed what torch would have done."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(eq=False)
class Engagement:
    """Turns true when the fix did something inside one ``apply()``."""

    engaged: bool = False


class Engagements:
    """The open ``apply()`` blocks of one fix. All are told: torch may trace on a thread of its own."""

    def __init__(self) -> None:
        self._open: list[Engagement] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    @contextmanager
    def opened(self) -> Iterator[Engagement]:
        """Yield a fresh note that ``mark`` reaches until the block ends."""
        note = Engagement()
        self._open.append(note)
        try:
            yield note
        finally:
            self._open.remove(note)

    def mark(self) -> None:
        """Say that the fix did something."""
        for note in tuple(self._open):
            note.engaged = True

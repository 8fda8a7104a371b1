"""What a fix is: a record with three verbs, and the note it leaves when it really mended something."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


@dataclass
class Engagement:
    """Turns true when the fix changed what torch would have done inside one ``apply()``."""

    engaged: bool = False


class Engagements:
    """The open ``apply()`` blocks of one fix: all are told, since a nested trace may run on another thread."""

    def __init__(self) -> None:
        self._open: list[Engagement] = []

    @contextmanager
    def opened(self) -> Iterator[Engagement]:
        """Yield a fresh note that ``mark`` reaches until the block ends."""
        note = Engagement()
        self._open.append(note)
        try:
            yield note
        finally:
            # by identity: two equal notes may be open
            self._open[:] = [other for other in self._open if other is not note]

    def mark(self) -> None:
        """Say that the fix was needed."""
        for note in tuple(self._open):
            note.engaged = True


@dataclass(frozen=True)
class Symptoms:
    """What a probe saw of torch's own behaviour: no line where it is right."""

    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fix:
    """A defect of the installed torch that guard mends while it traces."""

    name: str
    cause: str
    """Public number, ``pytorch#93290``."""
    what: str
    """One line: what is promised."""
    probe: Callable[[], Symptoms]
    """Look for the defect in this process, under whatever is applied. Raises nothing that ``Exception`` does not cover."""
    apply: Callable[[], AbstractContextManager[Engagement]]
    """Mend; changes nothing where torch is right."""
    plant: Callable[[], AbstractContextManager[None]]
    """Put the defect back, fixes applied or not: for tests of guard itself."""

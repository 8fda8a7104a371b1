"""Call events, by the code object that made them. Data of one counted run; knows no hook and no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from guard.tracers.errors.places import is_guard

if TYPE_CHECKING:
    from types import CodeType

UNCOUNTED = frozenset({"__eq__", "__ne__", "__hash__"})
"""A frame of these names is not counted, nor what runs below it: dicts and sets call them when hashes collide, and
hashes of objects without one of their own are addresses. DTensor's joint trace moved by 0.013 % for it."""


@dataclass
class Tally:
    """What a hook saw. By id: a code object's own hash looks at all of its constants."""

    entries: dict[int, int] = field(default_factory=dict)
    """Entries of a Python function, a generator's resumptions included."""
    c_calls: dict[int, int] = field(default_factory=dict)
    """Calls of C functions that it made."""
    codes: dict[int, CodeType] = field(default_factory=dict)
    """Keeps each code object alive, so that its id stays its own."""

    def counted(self) -> list[tuple[CodeType, int]]:
        """Return both together, of all functions but guard's own: another guard must not be another cost.

        No dict: code objects that read the same are equal.
        """
        return [
            (code, self.entries.get(key, 0) + self.c_calls.get(key, 0))
            for key, code in self.codes.items()
            if not is_guard(code.co_filename)
        ]

    @property
    def calls(self) -> int:
        """All events that count."""
        return sum(count for _, count in self.counted())

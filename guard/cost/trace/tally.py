"""Call events, by the code object that made them. Data of one counted run; knows no hook and no torch."""

from __future__ import annotations

import linecache
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from guard.tracers.errors.places import is_guard

if TYPE_CHECKING:
    from types import CodeType

COMPARING = frozenset({"__eq__", "__ne__", "__hash__"})
"""Dicts and sets call them when hashes collide, and the hash of an object without one of its own is its address:
DTensor's joint trace moved by 0.013 % for it."""
STACKS = (
    traceback.__file__,
    linecache.__file__,
    str(Path("torch", "utils", "_traceback.py")),
    str(Path("torch", "_logging", "structured.py")),
)
"""Torch notes the stack at each node, up to the interpreter's first frame: a trace that was started 30 frames deeper,
as another pytest does, had 23 % more calls."""
OWN = (str(Path("guard", "tracers", "undropped.py")),)
"""What torch does for guard's own copy of a joint graph: 4 % of a small trace's calls, and none of the tracer's."""
BY_ADDRESS = frozenset({"_extract_tensor_metadata"})
"""It looks through a set of memory formats until one fits, and their order is that of their addresses: on torch 2.9 a
small trace moved by 1 % from process to process."""
HISTORY = frozenset({"_uncache_dispatch"})
"""Torch calls it, where a pre-dispatch mode begins, for every operator that was ever dispatched in the process: behind
other checks a trace of the project's own had 4 % more calls."""
NAMES = COMPARING | BY_ADDRESS | HISTORY


def uncounted(code: CodeType) -> bool:
    """Tell whether its frames are not counted, nor what runs below them."""
    return code.co_name in NAMES or code.co_filename.endswith(STACKS + OWN)


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

"""Read what faulthandler left of a dead process: pure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guard.session.seen import INSTALLED, PACKAGE, is_foreign

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAME = re.compile(r'^  File "(?P<path>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.MULTILINE)
# faulthandler writes this line before it ends the process, and only then (Python/traceback.c, dump_traceback_later)
TIMED_OUT = "Timeout ("
INNERMOST = 3


class Frame(NamedTuple):
    """One line of a stack."""

    path: str
    line: int
    name: str

    def shown(self, root: Path) -> str:
        """Return ``path:line in name``, relative to the root where it is below it."""
        return f"{self.where(root)} in {self.name}"

    def where(self, root: Path) -> str:
        """Return ``path:line``."""
        path = Path(self.path)
        base = next((base for base in (root, *INSTALLED) if path.is_relative_to(base)), Path())
        return f"{path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()}:{self.line}"


def timed_out(text: str) -> bool:
    """Return whether the process was ended because a check took too long."""
    return any(line.startswith(TIMED_OUT) for line in text.splitlines())


def user_line(text: str, root: Path) -> str | None:
    """Return the innermost ``path:line`` of the project's own code in the thread that it was in."""
    return next((frame.where(root) for frames in _threads(text) for frame in frames if _own(frame, root)), None)


def innermost(text: str, root: Path) -> tuple[str, ...]:
    """Return the first frames of the thread that crashed or, after a timeout, of the one that ran the user's code."""
    threads = list(_threads(text))
    chosen = next((frames for frames in threads if any(_own(frame, root) for frame in frames)), (threads or [[]])[0])
    told = [frame for frame in chosen if not Path(frame.path).is_relative_to(PACKAGE)]
    return tuple(frame.shown(root) for frame in told[:INNERMOST])


def _threads(text: str) -> Iterator[list[Frame]]:
    """Yield the frames of each thread, innermost first; the current thread comes first."""
    blocks = re.split(r"^(?=Thread |Current thread )", text, flags=re.MULTILINE)
    for block in sorted(blocks, key=lambda block: not block.startswith("Current")):
        frames = [Frame(found["path"], int(found["line"]), found["name"]) for found in FRAME.finditer(block)]
        if frames:
            yield frames


def _own(frame: Frame, root: Path) -> bool:
    path = Path(frame.path)
    return path.is_relative_to(root) and not is_foreign(path)

"""How far a run is, on stderr: a bar on a terminal, a line now and then elsewhere. stdout is never touched."""

from __future__ import annotations

import time
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self  # typing's came in Python 3.11; never imported at run time

# Seconds. A log of a short run needs no progress; a long one needs to show that it lives.
QUIET = 5.0
EVERY = 10.0


class Progress:
    """Silent: the progress of quiet runs, and what the others do where nothing is to be seen."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tell(self, done: int, total: int) -> None:
        """Take the state of the run."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Lines(Progress):
    """At most one line each EVERY seconds, none before QUIET."""

    def __init__(self, stream: IO[str], clock: Any = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._next = clock() + QUIET

    def tell(self, done: int, total: int) -> None:
        """Print how many checks are done, if it is time."""
        now = self._clock()
        if now >= self._next and done < total:
            self._next = now + EVERY
            self._stream.write(f"{done} of {total} checks done\n")
            self._stream.flush()


class Bar(Progress):
    """A bar that goes away when the run ends."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Rich

        columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Rich(
            *columns, console=Console(file=stream), transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._task = self._bar.add_task("checking", total=None)
        self._bar.start()

    def tell(self, done: int, total: int) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done, total=total or None)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


def progress(stream: IO[str], *, quiet: bool, dumb: bool) -> Progress:
    """Choose how to show progress on a stream; ``dumb`` is a terminal that cannot move its cursor."""
    if quiet:
        return Progress()
    return Bar(stream) if stream.isatty() and not dumb else Lines(stream)

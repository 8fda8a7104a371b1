"""What a worker leaves behind should it die: where it was (breadcrumb) and its stacks (faulthandler). Knows no pytest.

The controller reads both, because a dead worker reports nothing: ``<worker>.crumb`` and ``<worker>.stacks``.
"""

from __future__ import annotations

import faulthandler
import json
import os
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A hang in Python is ended by pytest-timeout's signal, which keeps the worker. What does not return to Python within
# this many seconds more (share of the limit, least, most) holds the GIL in C: only ending the process helps.
GRACE = (0.1, 2.0, 30.0)


class Crumb(NamedTuple):
    """Where a worker was."""

    nodeid: str
    """pytest's id of the test, or the path of the module that was being imported."""
    phase: str
    """What it was doing, as words that follow "while": starting, importing, waiting, running, tracing, ..."""
    started: float
    """time.time() when this test or import began."""
    limit: float = 0.0
    """Seconds that it may take; 0 is no limit."""


class Watch:
    """The files of one process. Without a folder it does nothing: bare pytest has no containment."""

    def __init__(self, folder: Path | None = None, worker: str = "main") -> None:
        self._crumb = Crumb("", "starting", time.time())
        self._file: IO[bytes] | None = None
        self._stacks: IO[bytes] | None = None
        if folder is not None:
            self._file = (folder / f"{worker}.crumb").open("wb", buffering=0)
            self._stacks = (folder / f"{worker}.stacks").open("wb", buffering=0)
            faulthandler.enable(self._stacks)

    def begin(self, nodeid: str, phase: str, limit: float) -> None:
        """Note what starts, and end this process where it has not ended ``limit`` seconds and a grace later."""
        self._write(Crumb(nodeid, phase, time.time(), limit))
        if self._stacks is not None and limit > 0:
            share, least, most = GRACE
            grace = min(max(limit * share, least), most)
            faulthandler.dump_traceback_later(limit + grace, exit=True, file=self._stacks)

    def end(self) -> None:
        """Note that nothing runs."""
        if self._stacks is not None:
            faulthandler.cancel_dump_traceback_later()
        self._write(Crumb("", "waiting", time.time()))

    @contextmanager
    def phase(self, phase: str) -> Iterator[None]:
        """Note what is being done for the test that runs."""
        before = self._crumb
        self._write(before._replace(phase=phase))
        yield
        # not on an error: what is reported then is where the error was
        self._write(before)

    def close(self) -> None:
        """Give the files back: this process has run its tests."""
        if self._file is not None and self._stacks is not None:
            faulthandler.disable()
            self._file.close()
            self._stacks.close()
            self._file = self._stacks = None

    def enter(self, phase: str) -> None:
        """Note what is being done from now on."""
        self._write(self._crumb._replace(phase=phase))

    def left(self) -> float:
        """Return the seconds that the test which runs has left, infinite where it has no limit."""
        if not self._crumb.limit:
            return float("inf")
        return self._crumb.started + self._crumb.limit - time.time()

    @property
    def doing(self) -> str:
        """The phase, for messages."""
        return self._crumb.phase

    def _write(self, crumb: Crumb) -> None:
        self._crumb = crumb
        if self._file is not None:
            data = json.dumps(crumb).encode()
            os.pwrite(self._file.fileno(), data, 0) if hasattr(os, "pwrite") else self._rewrite(data)
            self._file.truncate(len(data))

    def _rewrite(self, data: bytes) -> None:
        assert self._file is not None  # noqa: S101 - the caller has looked
        self._file.seek(0)
        self._file.write(data)


def read_crumb(folder: Path, worker: str) -> Crumb | None:
    """Read where a worker was; None where it never got as far."""
    try:
        fields: list[Any] = json.loads((folder / f"{worker}.crumb").read_bytes())
        return Crumb(*fields)
    except (OSError, ValueError, TypeError):
        return None


def read_stacks(folder: Path, worker: str) -> str:
    """Read what faulthandler wrote, "" where it wrote nothing."""
    try:
        return (folder / f"{worker}.stacks").read_text(errors="replace")
    except OSError:
        return ""

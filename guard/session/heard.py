"""What a worker heard, kept for the controller in ``<worker>.edges``: who used what, in the order of tests."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from guard.freshness.edges import EVERYBODY, Edge

if TYPE_CHECKING:
    from pathlib import Path

    from guard.freshness.places import Places


class Heard:
    """Edges, each kept once; those that are new wait until a test or an import ends."""

    def __init__(self, path: Path, places: Places) -> None:
        self._places = places
        self._file: IO[str] | None = path.open("w", encoding="utf-8")
        self._known: set[Edge] = set()
        self._new: list[Edge] = []
        self._modules: set[str] = set()
        self._path: list[str] = []

    @property
    def closed(self) -> bool:
        """Whether nothing more is kept."""
        return self._file is None

    def say(self, kind: str, user: str, subject: str) -> None:
        """Note who used what."""
        edge = Edge(kind, user, subject)
        if edge not in self._known:
            self._known.add(edge)
            self._new.append(edge)

    def leave(self, nodeid: str | None = None) -> None:
        """Write what is new, and behind it which test or import ended."""
        if self._file is None:
            return
        self._imported()
        new, self._new = self._new, []
        new += [Edge("ran", nodeid, "")] if nodeid is not None else []
        with suppress(OSError):  # without the file nothing is known of this worker's checks: they are traced again
            self._file.writelines(edge.line() for edge in new)
            self._file.flush()

    def close(self) -> None:
        """Write the rest, and keep nothing more."""
        self.leave()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _imported(self) -> None:
        """Note the modules that are new, and where they are looked for."""
        if sys.path != self._path:
            self._path = list(sys.path)
            self._new += [Edge("path", str(number), str(entry)) for number, entry in enumerate(self._path)]
        fresh = [name for name in sys.modules if name not in self._modules]
        self._modules.update(fresh)
        # also of Python's own: a file of the project that takes such a name comes before it
        for top in {name.partition(".")[0] for name in fresh}:
            self.say("name", EVERYBODY, top)
        for name in fresh:
            where = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(where, str) and self._places.kind(where) in {"project", "foreign"}:
                self._new.append(Edge("module", name, where))

"""A look at everything that a manifest names: which of it moved. Refreshes the stamps of what was only touched."""

from __future__ import annotations

import time

from guard.freshness.manifest import Manifest, write
from guard.freshness.rows import has_stamp, stamp, trusted, value


class Look:
    """What one look saw."""

    __slots__ = ("_found", "_now", "_path", "_rows", "moved")

    def __init__(self, found: Manifest, path: str) -> None:
        self._found = found
        self._path = path
        self._now = time.time_ns()
        self._rows: dict[int, str] = {}
        self.moved: set[int] = set()
        """Rows, by position, that are not as they were."""
        for number, row in enumerate(found.rows):
            kind, mark, was, subject = row.split("\t")
            if has_stamp(kind):
                seen = stamp(subject)
                if seen == mark:
                    continue
                if value(kind, subject) == was:
                    fresh = trusted(seen, self._now)
                    if fresh != mark:
                        self._rows[number] = f"{kind}\t{fresh}\t{was}\t{subject}"
                    continue
            elif value(kind, subject) == was:
                continue
            self.moved.add(number)

    def accept(self, number: int) -> None:
        """Take a row that moved for one that did not: what came or went there is no matter."""
        kind, _, _, subject = self._found.rows[number].split("\t")
        self._rows[number] = f"{kind}\t{trusted(stamp(subject), self._now)}\t{value(kind, subject)}\t{subject}"
        self.moved.discard(number)

    def keep(self) -> None:
        """Write the rows that were refreshed, so that the next look need not read these files."""
        if self._rows:
            rows = [self._rows.get(number, row) for number, row in enumerate(self._found.rows)]
            found = self._found
            write(self._path, Manifest(found.surroundings, found.summary, rows, found.checks))

"""Reading of the baselines: which there are, and their bytes. Writes nothing; accept does."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING
from unicodedata import normalize

from guard.baselines.names import COST_SUFFIX, SUFFIX, check_of, cost_path, quoted, relative_path
from guard.baselines.read_costs import MAX_BYTES
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.config import Config

# The two lines that name the check; an id is at most a few times the 255 bytes of a file name.
HEADER_BYTES = 4096
_CHECK = b"check "


@dataclass(frozen=True)
class Entry:
    """One file of the store."""

    path: Path
    check: str | None
    """Of the file's ``check`` line; else, where that is not readable, of its name; None where both fail."""
    problem: str | None = None
    """Why this file is not that check's baseline."""


@dataclass(frozen=True)
class Store:
    """The baselines of one project."""

    config: Config

    def path(self, check: str) -> Path:
        """Return where a check's baseline is or would be."""
        return self.config.baselines / relative_path(check)

    def shown(self, path: Path) -> str:
        """Return a path as messages print it: relative to the root."""
        return path.relative_to(self.config.root).as_posix()

    def read(self, check: str) -> bytes | None:
        """Return a baseline's bytes, None where there is none.

        Raises:
            GuardError: The file is there and cannot be read.
        """
        return self._bytes(self.path(check))

    def cost_path(self, check: str) -> Path:
        """Return where a check's accepted trace cost is or would be."""
        return self.config.baselines / cost_path(check)

    def read_cost(self, check: str) -> bytes | None:
        """Return the bytes of a check's trace cost, None where there is none; of one that is too large, its beginning.

        Raises:
            GuardError: The file is there and cannot be read.
        """
        return self._bytes(self.cost_path(check), MAX_BYTES + 1)

    def costs(self) -> tuple[Path, ...]:
        """Return every file with a trace cost in the order of paths.

        Raises:
            GuardError: A folder cannot be read.
        """
        found = (Path(folder, name) for folder, _, names in self._walk() for name in names)
        return tuple(sorted(path for path in found if path.name.endswith(COST_SUFFIX)))

    def _bytes(self, path: Path, most: int = -1) -> bytes | None:
        try:
            if not S_ISREG(path.stat().st_mode):  # opening a pipe waits for ever
                raise GuardError(f'"{self.shown(path)}" cannot be read: it is no file')
            with path.open("rb") as stream:
                return stream.read(most)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GuardError(f'"{self.shown(path)}" cannot be read: {error.strerror}') from error

    def entries(self) -> tuple[Entry, ...]:
        """Return every file of the store in the order of paths; reads their headers only.

        Raises:
            GuardError: A folder cannot be read: its baselines would seem to be gone.
        """
        paths = (Path(folder, name) for folder, _, names in self._walk() for name in names if name.endswith(SUFFIX))
        return tuple(self._entry(path) for path in sorted(paths))

    def _walk(self) -> Iterator[tuple[str, list[str], list[str]]]:
        def refuse(error: OSError) -> None:
            if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
                raise GuardError(f'"{self.shown(Path(error.filename))}" cannot be read: {error.strerror}') from error

        return os.walk(self.config.baselines, onerror=refuse)

    def ids(self) -> tuple[str, ...]:
        """Return the checks that have a baseline.

        Raises:
            GuardError: A file is in another check's place, or is nobody's.
        """
        entries = self.entries()
        for entry in entries:
            if entry.check is None or entry.problem is not None:
                raise GuardError(entry.problem or f'"{self.shown(entry.path)}" names no check')
        return tuple(sorted(entry.check for entry in entries if entry.check is not None))

    def _entry(self, path: Path) -> Entry:
        relative = path.relative_to(self.config.baselines).as_posix()
        check = header_check(path)
        if check is None:
            # a conflict marker or a torn file: the check itself says unreadable, with line and column
            named = check_of(relative)
            if named is None:
                return Entry(path, None, f'"{self.shown(path)}" has no "check" line')
            lost = normalize("NFC", relative) != relative_path(named)
            return Entry(path, named, f'"{self.shown(path)}" is no baseline\'s name' if lost else None)
        wanted = relative_path(check)
        if normalize("NFC", relative) == wanted:
            return Entry(path, check)
        home = self.shown(self.config.baselines / wanted)
        return Entry(path, check, f'"{self.shown(path)}" holds check {quoted(check)}, whose file is "{home}"')


def header_check(path: Path) -> str | None:
    """Return the id of a file's ``check`` line, None where its first two lines have none."""
    try:
        if not path.is_file():  # opening a pipe waits for ever
            return None
        with path.open("rb") as stream:
            head = stream.read(HEADER_BYTES)
    except OSError:
        return None
    lines = head.removeprefix(b"\xef\xbb\xbf").splitlines()[:2]
    if len(lines) < 2 or not lines[1].startswith(_CHECK):  # noqa: PLR2004 - format and check, one a line
        return None
    try:
        return lines[1][len(_CHECK) :].decode()
    except UnicodeDecodeError:
        return None

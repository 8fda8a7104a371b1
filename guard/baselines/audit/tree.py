"""The check modules on disk, each read once, by its digest where it was read before. Judges none."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from guard.baselines.audit.module import Source, from_plain, plain
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.baselines.audit.cache import Cache
    from guard.config import Config

# pytest's default for norecursedirs
_PASSED_BY = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}", "__pycache__")
MODULES = ("test_{}.py", "{}.py")


class Tree:
    """The modules below the checks' root."""

    def __init__(self, config: Config, cache: Cache) -> None:
        self._config, self._cache = config, cache
        self._read: dict[str, Source | None] = {}

    def source(self, path: str) -> Source | None:
        """Return a module by its path below the project's root, None where there is none.

        Raises:
            GuardError: It is there and cannot be read.
        """
        if path not in self._read:
            self._read[path] = self._load(path)
        return self._read[path]

    def module(self, name: str) -> tuple[str, Source] | None:
        """Return path and source of the module that an id names: ``folder/step`` is ``checks/folder/test_step.py``."""
        head, _, last = name.rpartition("/")
        for pattern in MODULES:
            path = "/".join(part for part in (self._prefix, head, pattern.format(last)) if part)
            source = self.source(path)
            if source is not None:
                return path, source
        return None

    def tests(self) -> Iterator[tuple[str, Source]]:
        """Yield the modules that pytest takes for tests and that mention guard, with their paths."""
        for folder, folders, files in os.walk(self._config.checks):
            folders[:] = sorted(name for name in folders if not _passed_by(folder, name))
            head = Path(folder).relative_to(self._config.root).as_posix()
            for name in sorted(files):
                if name.endswith("_test.py") or (name.startswith("test_") and name.endswith(".py")):
                    path = name if head == "." else f"{head}/{name}"
                    source = self.source(path)
                    if source is not None:
                        yield path, source

    def conftests(self, path: str) -> Iterator[Source]:
        """Yield the conftests that apply to a module, from the root down."""
        parts = path.split("/")[:-1]
        for size in range(len(parts) + 1):
            source = self.source("/".join((*parts[:size], "conftest.py")))
            if source is not None:
                yield source

    @property
    def _prefix(self) -> str:
        prefix = self._config.checks_prefix
        return "" if prefix == "." else prefix

    def _load(self, path: str) -> Source | None:
        try:
            data = (self._config.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GuardError(f'"{path}" cannot be read: {error.strerror}') from error
        return from_plain(self._cache.module(data, lambda: _parsed(data)))


def _parsed(data: bytes) -> list[object]:
    from guard.baselines.audit.syntax import read_source

    return plain(read_source(data))


def _passed_by(folder: str, name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in _PASSED_BY) or Path(folder, name, "pyvenv.cfg").is_file()

"""What a file depends on, through everything that it uses: edges that were heard, and imports by text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from guard.freshness.edges import EVERYBODY
from guard.freshness.imports import Imports, imports_of
from guard.freshness.rows import FILE, FOLDER, HERE, VARIABLE, importable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.freshness.edges import Edge
    from guard.freshness.places import Places

UNKEYABLE = "unkeyable"
_ROWS = {"file": FILE, "folder": FOLDER, "variable": VARIABLE, "here": HERE, UNKEYABLE: UNKEYABLE}
_ENDS = (".py", "/__init__.py")


class Use(NamedTuple):
    """One thing that is depended on."""

    kind: str
    """A kind of row, or UNKEYABLE."""
    subject: str


class Graph:
    """Who uses what, in one project."""

    def __init__(self, places: Places, edges: Iterable[Edge], path: Sequence[str]) -> None:
        self._places = places
        self._path = [os.path.realpath(entry or ".") for entry in path]
        self._heard: dict[str, set[Use]] = {}
        self.modules: dict[str, str] = {}
        """Name -> file, of what was imported from the project or another folder that is no installation."""
        self.names: set[str] = set()
        """Modules that anything asked for."""
        self._asked: set[str] = set()
        self._collected: set[str] = set()
        for edge in edges:
            if edge.kind in _ROWS:
                self._heard.setdefault(edge.user, set()).add(Use(_ROWS[edge.kind], edge.subject))
            elif edge.kind == "module":
                self.modules[edge.user] = edge.subject
            elif edge.kind == "name":
                self.names.add(edge.subject)
                self._asked.update([edge.subject] if edge.user != EVERYBODY else ())
            elif edge.kind == "ran" and "::" not in edge.user:
                self._collected.add(f"{places.root}/{edge.user}")
        self.names |= set(self.modules)
        self._packages = {file: _package(name, file) for name, file in self.modules.items()}
        self._read: dict[str, Imports] = {}
        self._found: dict[str, tuple[str, ...]] = {}
        self._importable: dict[str, frozenset[str]] = {}

    def everybody(self) -> set[Use]:
        """Return what no file of the project asked for by itself."""
        return self.reach([EVERYBODY])

    def reach(self, users: Iterable[str]) -> set[Use]:
        """Return everything that these files, and tests as ``file::test``, depend on, themselves included."""
        left = list(users)
        seen: set[str] = set()
        found: set[Use] = set()
        while left:
            user = left.pop()
            if user in seen:
                continue
            seen.add(user)
            path, test, _ = user.partition("::")
            if not test and path:
                found.add(Use(FILE, path))
            uses = [*self._heard.get(user, ()), *self._imported(path, user)]
            found.update(uses)
            for use in uses:
                if use.kind == FILE:  # a link and what it leads to are two files that may change
                    left += self._whole(os.path.realpath(use.subject))
        return found

    def alone(self, folder: str) -> set[str]:
        """Return the modules in a folder that pytest collected and nothing asked for: they may go without a trace."""
        files = ((name, file) for name, file in self.modules.items() if os.path.dirname(file) == folder)
        return {name for name, file in files if file in self._collected and name not in self._asked}

    def _imported(self, path: str, user: str) -> Iterator[Use]:
        if not path.endswith(".py"):
            return
        read = self._imports(path)
        _, separator, test = user.partition("::")
        names = read.tests.get(test, frozenset()) if separator else read.names
        self.names |= names
        self._asked |= names
        for name in names:
            yield from (Use(FILE, file) for file in self._files(name))
        if not separator:
            yield from (Use(VARIABLE, name) for name in read.variables)

    def _whole(self, path: str) -> list[str]:
        """Return a file that another uses, with what its test functions use: the other may call them."""
        tests = self._imports(path).tests if path.endswith(".py") else {}
        return [path, *(f"{path}::{test}" for test in tests)]

    def _imports(self, path: str) -> Imports:
        if path not in self._read:
            inside = self._places.kind(path) == "project"
            self._read[path] = imports_of(path, self._package(path)) if inside else Imports()
        return self._read[path]

    def _package(self, path: str) -> str:
        known = self._packages.get(path)
        if known is not None:
            return known
        folder = os.path.dirname(path)
        parts: list[str] = []
        while os.path.exists(f"{folder}/__init__.py"):
            folder, name = os.path.split(folder)
            parts.insert(0, name)
        return ".".join(parts)

    def _files(self, name: str) -> tuple[str, ...]:
        """Return the project's files that an import of a module runs: its own, and its packages'."""
        if name not in self._found:
            parts = name.split(".")
            above = self._files(".".join(parts[:-1])) if len(parts) > 1 else ()
            known = self.modules.get(name)
            own = [known] if known is not None else list(self._searched(parts))
            inside = (os.path.realpath(file) for file in own)
            self._found[name] = (*above, *(file for file in inside if self._places.kind(file) == "project"))
        return self._found[name]

    def _searched(self, parts: list[str]) -> Iterator[str]:
        for folder in self._path:
            if parts[0] in self._tops(folder):
                yield from (file for end in _ENDS if os.path.isfile(file := f"{folder}/{'/'.join(parts)}{end}"))

    def _tops(self, folder: str) -> frozenset[str]:
        if folder not in self._importable:
            inside = self._places.kind(folder) == "project" and os.path.isdir(folder)
            self._importable[folder] = frozenset(importable(os.listdir(folder)) if inside else ())
        return self._importable[folder]


def _package(name: str, file: str) -> str:
    return name if os.path.basename(file) == "__init__.py" else name.rpartition(".")[0]

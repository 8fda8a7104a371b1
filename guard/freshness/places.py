"""Whose a file is: the project's, guard's, an installed package's, Python's, or somebody else's on the import path."""

from __future__ import annotations

import os
import sysconfig
from typing import Literal

import guard

Kind = Literal["project", "guard", "installed", "python", "foreign", "none"]

PACKAGE = os.path.dirname(os.path.realpath(str(guard.__file__)))
_SITES = ("/site-packages/", "/dist-packages/")


class Places:
    """Tells files of one project apart; remembers its answers."""

    def __init__(self, root: str) -> None:
        self.root = root
        paths = sysconfig.get_paths()
        self._installed = tuple({_folder(paths[name]) for name in ("purelib", "platlib")})
        self._python = tuple({_folder(paths[name]) for name in ("stdlib", "platstdlib")})
        self._known: dict[str, Kind] = {}

    def kind(self, path: str) -> Kind:
        """Return whose an absolute path is; ``none`` for ``<string>`` and the like."""
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self._kind(path)
        return found

    def in_place(self, path: str) -> bool:
        """Tell whether files lie where they are edited, not where they were installed to."""
        real = os.path.realpath(path)
        return not any(site in real.replace(os.sep, "/") for site in _SITES) and not real.startswith(self._installed)

    def _kind(self, path: str) -> Kind:
        if path.startswith("<") or not path:
            return "none"
        real = os.path.realpath(path)
        if not self.in_place(real):
            return "guard" if real.startswith(PACKAGE + os.sep) else "installed"
        if real.startswith(self._python):
            return "python"
        if real == PACKAGE or real.startswith(PACKAGE + os.sep):
            return "guard"
        return "project" if real.startswith(self.root + os.sep) or real == self.root else "foreign"


def _folder(path: str) -> str:
    return os.path.realpath(path) + os.sep

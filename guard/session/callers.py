"""Whose call it is that a worker hears: the package and the project's file that are at work, by the frames."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from guard.freshness.edges import EVERYBODY

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from guard.freshness.places import Places


class Callers:
    """Tells callers apart; what follows from the running test's own function, from what others may share."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._reals: dict[str, str] = {}
        self._own: frozenset[CodeType] = frozenset()
        self.test = ""
        """The running test as a user, ``path::name``."""

    def begin(self, path: str, name: str, function: Any) -> None:
        """Note the function of the test that begins, and where it is."""
        code = getattr(function, "__code__", None)
        self.test = f"{os.path.realpath(path)}::{name}"
        self._own = frozenset(_nested(code)) if code is not None else frozenset()

    def end(self) -> None:
        """Know of no test."""
        self.test, self._own = "", frozenset()

    def nearest(self, frame: FrameType | None) -> tuple[str, bool]:
        """Return whose the innermost frame is that is not Python's own: its package, and whether the project's."""
        while frame is not None:
            path = frame.f_code.co_filename
            kind = self._places.kind(path)
            if kind not in {"none", "python"}:
                return ("guard" if kind == "guard" else _package(path)), kind == "project"
            frame = frame.f_back
        return "", False

    def user(self, frame: FrameType | None) -> str:
        """Return the innermost file of the project's that is at work, with its test where it is that one's own code."""
        while frame is not None:
            code = frame.f_code
            if self._places.kind(code.co_filename) == "project":
                return self.test if code in self._own else self.real(code.co_filename)
            frame = frame.f_back
        return EVERYBODY

    def real(self, path: str) -> str:
        """Return a path without links; each is asked for once."""
        found = self._reals.get(path)
        if found is None:
            found = self._reals[path] = os.path.realpath(path)
        return found


def _package(path: str) -> str:
    parts = path.replace(os.sep, "/").split("/")
    for site in ("site-packages", "dist-packages"):
        if site in parts:
            return parts[parts.index(site) + 1]
    return ""


def _nested(code: CodeType) -> list[CodeType]:
    """Return a function's code and that of the functions in it."""
    inner = [found for found in code.co_consts if hasattr(found, "co_consts")]
    return [code, *(deeper for found in inner for deeper in _nested(found))]

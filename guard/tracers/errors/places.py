"""Whose a source file is: the user's, torch's, guard's, or a library's. Knows paths only."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

USER = "<user>"
_GUARD = str(Path(__file__).resolve().parents[2])
_STDLIB = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
_INSTALLED = ("/site-packages/", "/dist-packages/")


def place(path: str, function: str) -> str:
    """Name where code runs: ``torch/_ops.py:__call__``, ``<user>``, or "" for guard, libraries and generated code.

    Torch's own code is named by its path inside the package, so that an editable checkout of torch reads like an
    installed one.
    """
    inside = _inside_torch(path)
    if inside is not None:
        return f"{inside}:{function}"
    return USER if is_user(path) else ""


def is_user(path: str) -> bool:
    """Whether the user wrote this file: a real one, outside torch, guard, the standard library and site-packages."""
    if path.startswith("<") or _inside_torch(path) is not None or is_guard(path):
        return False
    return not (any(part in _posix(path) for part in _INSTALLED) or any(_under(path, root) for root in _STDLIB))


def is_guard(path: str) -> bool:
    """Whether this file is guard's own."""
    return _under(path, _GUARD)


def _inside_torch(path: str) -> str | None:
    file = getattr(sys.modules.get("torch"), "__file__", None)
    if file and _under(path, root := os.path.dirname(file)):  # noqa: PTH120 - a hot path: one call a traceback frame
        return "torch" + _posix(path[len(root) :])
    _, installed, rest = _posix(path).rpartition("-packages/torch/")
    return f"torch/{rest}" if installed else None


def _under(path: str, root: str) -> bool:
    return path.startswith(root) and path[len(root) :].startswith(("/", os.sep))


def _posix(path: str) -> str:
    return path.replace("\\", "/")

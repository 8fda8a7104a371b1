"""A pytest plugin of the processes that trace another commit: names the files of today that they imported all the same.

An editable installation can lead an import to the user's tree; then the commit's checks ran code that is not its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import guard
from guard.commands.import_path import is_project

if TYPE_CHECKING:
    import pytest

# Environment variables: the user's work tree, the commit's, and the file to write
TOP, TREE, LEAKS = "GUARD_REF_TOP", "GUARD_REF_TREE", "GUARD_REF_LEAKS"
PACKAGE = Path(guard.__file__).resolve().parent


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave the names, one a line; a worker that died leaves none."""
    if not hasattr(session.config, "workerinput"):
        return
    top, tree = Path(os.environ[TOP]), Path(os.environ[TREE])
    found = [path for path in _files() if is_project(path, top) and not _ours(path, tree)]
    if found:
        with Path(os.environ[LEAKS]).open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write("".join(f"{path.relative_to(top).as_posix()}\n" for path in found))


def _files() -> list[Path]:
    files = (getattr(module, "__file__", None) for module in tuple(sys.modules.values()))
    return [Path(file).resolve() for file in files if isinstance(file, str)]


def _ours(path: Path, tree: Path) -> bool:
    return path.is_relative_to(tree.parent) or path.is_relative_to(PACKAGE)

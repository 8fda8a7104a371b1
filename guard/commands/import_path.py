"""Where Python finds the modules of another checkout of a project: this process's import path, led there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INSTALLED = ("site-packages", "dist-packages")


def mapped(paths: Iterable[str], top: Path, tree: Path) -> list[str]:
    """Return import paths with those below ``top`` led to ``tree``.

    A folder that the tree does not have is left out, or its modules would be the user's of today; a virtual environment
    inside the project stays.
    """
    led = (_led(Path(path or "."), top, tree) for path in (*_editable(top), *paths))
    return list(dict.fromkeys(str(path) for path in led if path is not None))


def is_project(path: Path, top: Path) -> bool:
    """Tell whether a file or folder is the project's, not one that is installed in an environment inside it."""
    return path.is_relative_to(top) and not any(part in INSTALLED for part in path.parts)


def _led(path: Path, top: Path, tree: Path) -> Path | None:
    resolved = path.resolve()
    if not is_project(resolved, top):
        return resolved if path == Path() else path
    there = tree / resolved.relative_to(top)
    if there.is_dir():
        return there
    # a virtual environment's scripts, a standard library: there is no other
    return path if _has_python(resolved) else None


def _has_python(path: Path) -> bool:
    prefixes = {Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)}
    return any(path.is_relative_to(prefix) for prefix in prefixes)


def _editable(top: Path) -> Iterator[str]:
    """Yield the folders that hold packages which setuptools installed for editing by a finder, not by the path.

    Its finder comes after the path, so a folder on the path wins.
    """
    for name, module in tuple(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None) if name.startswith("__editable__") else None
        if isinstance(mapping, dict):
            folders = (Path(str(folder)).parent for folder in mapping.values())
            yield from (str(folder) for folder in folders if is_project(folder.resolve(), top))

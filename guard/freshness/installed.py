"""What is installed: every distribution by its record, and the sources of those that can be edited in place."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from guard.freshness.digest import is_noise
from guard.freshness.graph import Use
from guard.freshness.places import PACKAGE
from guard.freshness.rows import DISTRIBUTIONS, FILE, IMPORTS, INSTALLED, STAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from guard.freshness.places import Places

# The record has the digest of every file that was installed: a rebuilt wheel of the same version differs in it
_RECORDS = ("RECORD", "METADATA", "PKG-INFO", "direct_url.json")
_LIBRARIES = (".so", ".pyd", ".dylib", ".dll")
_GIT = "+git"


def distributions(path: Iterable[str]) -> Iterator[Use]:
    """Yield the names and records of all distributions on the import path."""
    for folder in path:
        names = _listed(folder)
        yield Use(INSTALLED, folder)
        for name in sorted(name for name in names if name.endswith(DISTRIBUTIONS)):
            inside = set(_listed(f"{folder}/{name}"))
            yield from (Use(FILE, f"{folder}/{name}/{record}") for record in _RECORDS if record in inside)
            if not inside:  # a file: a path to add, a link, an egg
                yield Use(FILE, f"{folder}/{name}")


def sources(path: Iterable[str], modules: Mapping[str, str], places: Places) -> Iterator[Use]:
    """Yield the files of packages that change without being installed anew.

    guard's own where it runs from its repository; what was imported from elsewhere than an installation or the project;
    distributions that were installed for editing; a torch that was built from a repository.
    """
    trees = {PACKAGE} if places.kind(PACKAGE) == "guard" and places.in_place(PACKAGE) else set()
    for name, file in modules.items():
        if places.kind(file) == "foreign" and "." not in name:
            trees.add(os.path.dirname(file) if os.path.basename(file) == "__init__.py" else file)
    for folder in path:
        for name in _listed(folder):
            if name.startswith("torch-") and _GIT in name:
                trees.add(f"{folder}/torch")
            trees.update(_edited(f"{folder}/{name}", modules))
    yield from (use for tree in sorted(trees) if not _is_project(tree, places) for use in _tree(tree))


def _is_project(tree: str, places: Places) -> bool:
    """Tell whether files are known one by one, for each check."""
    return places.kind(tree) == "project"


def _edited(record: str, modules: Mapping[str, str]) -> Iterator[str]:
    """Yield the packages of a distribution that was installed for editing (PEP 610), as far as they were imported."""
    with suppress(OSError, ValueError, AttributeError, TypeError, KeyError):
        with open(f"{record}/direct_url.json", encoding="utf-8") as stream:
            said = json.load(stream)
        if said.get("dir_info", {}).get("editable"):
            top = os.path.realpath(unquote(urlparse(said["url"]).path)) + os.sep
            for name, file in modules.items():
                if "." not in name and os.path.realpath(file).startswith(top):
                    yield os.path.dirname(file) if os.path.basename(file) == "__init__.py" else file


def _tree(top: str) -> Iterator[Use]:
    if os.path.isfile(top):
        yield Use(FILE, top)
        return
    for folder, below, names in os.walk(top):
        below[:] = sorted(name for name in below if not is_noise(name))
        if any(name.endswith(".py") for name in names):
            yield Use(IMPORTS, folder)
        yield from (Use(FILE, f"{folder}/{name}") for name in sorted(names) if name.endswith(".py"))
        # a library of half a gigabyte is not read
        yield from (Use(STAT, f"{folder}/{name}") for name in sorted(names) if name.endswith(_LIBRARIES))


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []

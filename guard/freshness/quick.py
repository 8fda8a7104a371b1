"""Answer a whole ``guard check`` where nothing moved, before anything else is imported. None: find out the long way."""

from __future__ import annotations

import os
import time

from guard.freshness.look import Look
from guard.freshness.manifest import place, read
from guard.freshness.surroundings import in_ci, surroundings

TYPE_CHECKING = False  # typing costs a fifth of what the whole answer may
if TYPE_CHECKING:
    from collections.abc import Mapping

STATE = ".guard"
PROJECT = "pyproject.toml"


def unchanged(environ: Mapping[str, str]) -> str | None:
    """Return the line to print where every check of the project is as it was when it last held."""
    started = time.perf_counter()
    path = None if in_ci(environ) else _manifest()
    found = None if path is None else read(path)
    if path is None or found is None or found.surroundings != surroundings(environ):
        return None
    try:
        complete, *counts = map(int, found.summary.split(" "))
        number, skipped, need_fix = counts
        look = Look(found, path) if complete and number else None
    except (ValueError, KeyError):  # nothing that guard wrote
        return None
    if look is None or look.moved:
        return None
    look.keep()
    return line(number, skipped, need_fix, time.perf_counter() - started)


def line(number: int, skipped: int, need_fix: int, seconds: float) -> str:
    """Return the summary: guard.report.summary says the same of such a run."""
    aside = f" ({need_fix} need{'s' * (need_fix == 1)} a fix)" if need_fix else ""
    rest = f", {skipped} skipped" if skipped else ""
    return f"{number} unchanged since {'it' if number == 1 else 'they'} last held{aside}{rest} in {seconds:.1f} s"


def _manifest() -> str | None:
    """Return the manifest of the project that the working directory lies in, None where that is not certain.

    guard.config knows better: a configuration on the way up ends this search.
    """
    try:
        folder = os.getcwd()
    except OSError:
        return None
    while True:
        path = place(f"{folder}/{STATE}")
        if os.path.exists(path):
            return path
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(f"{folder}/{PROJECT}") or os.path.exists(f"{folder}/checks"):
            return None
        folder = above

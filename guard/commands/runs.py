"""Folders of running checks, ``.guard/run/<pid>/``: made for a run, removed after it, and after one that was killed."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from guard.baselines.disk import open_state
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def run_folder(state: Path) -> Iterator[Path]:
    """Make a folder for this process; it is gone afterwards.

    Raises:
        GuardError: It cannot be made.
    """
    folder = state / "run" / str(os.getpid())
    try:
        open_state(state)
        _remove_leftovers(folder.parent)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    except OSError as error:
        raise GuardError(f'"{folder}" cannot be made: {error.strerror}') from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another run's folder is in it
            folder.parent.rmdir()


def _remove_leftovers(runs: Path) -> None:
    for folder in runs.glob("*"):
        if folder.name.isdigit() and not alive(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another run's folder is in it
            folder.parent.rmdir()


def alive(pid: int) -> bool:
    """Tell whether a process of this machine still runs; of Windows' always yes."""
    if os.name == "nt":  # there, os.kill(pid, 0) ends the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

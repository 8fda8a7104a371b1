"""The log that an internal error leaves: what somebody needs who was not there. Never raises."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

from guard import __version__, environment
from guard.baselines.disk import open_state, write_whole
from guard.config import load
from guard.errors import GuardError


def write_bug_report(error: BaseException, argv: list[str]) -> Path | None:
    """Write the log into the state folder, else the system's temporary one; return its path, None where neither did."""
    data = describe(error, argv).encode(errors="backslashreplace")
    name = f"bug-report-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    for folder in _folders():
        try:
            write_whole(folder / name, data)
        except OSError:
            continue
        return folder / name
    return None


def describe(error: BaseException, argv: list[str]) -> str:
    """Return the text of the log: versions, command, traceback."""
    facts = {"guard": __version__, **environment.current().as_dict(), "executable": sys.executable, "command": argv}
    lines = [f"{key}: {value}\n" for key, value in facts.items()]
    return "".join([*lines, "\n", *traceback.format_exception(error)])


def _folders() -> list[Path]:
    temporary = Path(tempfile.gettempdir())
    try:
        return [open_state(load().state), temporary]
    except (GuardError, OSError):
        return [temporary]

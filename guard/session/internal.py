"""A defect of guard's own as a finding, with the log that a bug report needs."""

from __future__ import annotations

import os
import time
import traceback
from typing import TYPE_CHECKING

from guard.environment import current
from guard.findings import Finding

if TYPE_CHECKING:
    from guard.session.setting import Setting


def finding(setting: Setting, check: str, error: BaseException) -> Finding:
    """Write the traceback to ``.guard/`` and say in one line where."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"
    title = f"guard itself failed: {type(error).__name__}: {_first_line(error)}"
    return Finding("internal", check, title, (f"at {where}", f"log: {_log(setting, check, error)}"))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "")[:200]


def _log(setting: Setting, check: str, error: BaseException) -> str:
    name = f"bug-report-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    environment = "\n".join(f"{key}: {value}" for key, value in current(setting.device).as_dict().items())
    body = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        setting.config.state.mkdir(exist_ok=True)
        with (setting.config.state / name).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"check: {check}\n{environment}\n\n{body}\n")
    except OSError as unwritable:
        return f"not written, {unwritable.strerror}"
    return f"{setting.config.state.name}/{name}"

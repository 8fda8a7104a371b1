"""Which commit is checked out, and where in its repository the project lies."""

from __future__ import annotations

import os
import re
from pathlib import Path

from guard.baselines.git import GitError
from guard.baselines.history import open_repository


def checked_out(root: Path) -> str:
    """Return the full hash: git's, else what the job says of itself, else ""."""
    try:
        return open_repository(root).head
    except GitError:
        said = os.environ.get("GITHUB_SHA", "")
        return said if re.fullmatch(r"[0-9a-f]{40,64}", said) else ""


def below_repository(root: Path) -> str:
    """Return the project's folder below the repository's root, "" or ``sub/folder/``: what CI's paths begin with."""
    try:
        return open_repository(root).prefix
    except GitError:
        top = os.environ.get("GITHUB_WORKSPACE")
        inside = top is not None and root.is_relative_to(Path(top).resolve()) and root != Path(top).resolve()
        return f"{root.relative_to(Path(top or root).resolve()).as_posix()}/" if inside else ""

"""The ``git`` command, run so that neither the user's settings nor a hook around it change what is asked."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from guard.errors import GuardError

if TYPE_CHECKING:
    from pathlib import Path

# Seconds a call may take: a history of 100,000 commits is walked in less; a network file system may never answer
PATIENCE = 30.0


class GitError(GuardError):
    """git cannot tell: the problem, and what to do about it."""


def git(
    folder: Path,
    *arguments: str,
    data: bytes | None = None,
    patience: float = PATIENCE,
    index: Path | None = None,
) -> bytes:
    """Run git in a folder and return what it printed.

    Args:
        folder: where to run it.
        *arguments: of the command line.
        data: for its stdin.
        patience: seconds that it may take.
        index: in place of the repository's own.

    Raises:
        GitError: There is no git, it took too long, or it failed; the problem is the first line that it said.
    """
    command = ["git", "-C", str(folder), *arguments]
    environment = _environment() | ({} if index is None else {"GIT_INDEX_FILE": str(index)})
    try:
        ran = subprocess.run(  # noqa: S603 - no shell, and paths are told apart from flags by ``--``
            command, input=data, env=environment, capture_output=True, timeout=patience, check=False
        )
    except FileNotFoundError:
        raise GitError("git is not installed", "install git, and commit the baselines") from None
    except subprocess.TimeoutExpired:
        verb = next(word for word in arguments if word != "-c" and "=" not in word)
        raise GitError(f'"git {verb}" did not end in {patience:.0f} s') from None
    except OSError as error:
        raise GitError(f"git does not start: {error.strerror}") from None
    if ran.returncode != 0:
        said = ran.stderr.decode(errors="replace").strip().splitlines()
        problem = said[0].removeprefix("fatal: ").removeprefix("error: ") if said else f"exit {ran.returncode}"
        raise GitError(f"git: {problem}")
    return ran.stdout


def _environment() -> dict[str, str]:
    """Return the environment without what a git hook sets for itself: it speaks of another index, or of its cwd."""
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    own = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    # ids are full of brackets, which are wildcards to git
    return kept | own | {"GIT_LITERAL_PATHSPECS": "1"}


_DROPPED = frozenset(
    f"GIT_{name}"
    for name in (
        *("DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR"),
        *("GLOB_PATHSPECS", "NOGLOB_PATHSPECS", "ICASE_PATHSPECS"),
    )
)

"""A commit's files in a folder of their own for as long as they are needed: git's worktree, gone whatever happens."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING

from guard.baselines.git import GitError, git
from guard.commands.runs import alive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from guard.baselines.history import Repository

PATIENCE = 600.0  # seconds for a checkout: large files, a slow disk
# The host is in the name: the processes of a container that shares the repository are not ours to call dead
_HOST = re.sub(r"[^A-Za-z0-9]", "", node())[:20] or "host"
_FOLDER = re.compile(rf"guard-against-{_HOST}-(\d+)-")
# No hook of the user's runs, nothing is repacked, no daemon stays
_SETTINGS = (f"core.hooksPath={os.devnull}", "gc.auto=0", "core.fsmonitor=false")
_QUIET = tuple(part for setting in _SETTINGS for part in ("-c", setting))
# What ends a process without an exception; CI sends it when a job is cancelled, a terminal when it closes
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def checked_out(repository: Repository, commit: str) -> Iterator[Path]:
    """Check a commit out below the temporary folder and give the path; nothing of it is left afterwards.

    The user's index, HEAD and other worktrees are not touched. What a killed process of this host left is removed.

    Raises:
        GitError: git cannot.
    """
    with _ended_by_exception():
        _remove_leftovers(repository)
        folder = Path(tempfile.mkdtemp(prefix=f"guard-against-{_HOST}-{os.getpid()}-")).resolve()
        # under the same name: a package's may be that of its folder
        tree = folder / (repository.top.name or "tree")
        try:
            git(repository.top, *_QUIET, "worktree", "add", "--detach", str(tree), commit, patience=PATIENCE)
            yield tree
        finally:
            with _uninterrupted():
                _remove(repository, tree)


def _remove_leftovers(repository: Repository) -> None:
    listed = git(repository.top, "worktree", "list", "--porcelain").decode(errors="surrogateescape").splitlines()
    for line in listed:
        tree = Path(line.removeprefix("worktree "))
        owner = _FOLDER.match(tree.parent.name) if line.startswith("worktree ") else None
        if owner is not None and not alive(int(owner[1])):
            _remove(repository, tree)


def _remove(repository: Repository, tree: Path) -> None:
    """Delete a tree and git's record of it; a global prune would drop those of the user's that are unmounted, too."""
    shutil.rmtree(tree.parent, ignore_errors=True)
    with suppress(GitError):  # there is no record yet
        # twice: git locks a tree while it makes it, and may have been killed then
        git(repository.top, *_QUIET, "worktree", "remove", "--force", "--force", str(tree))


@contextmanager
def _ended_by_exception() -> Iterator[None]:
    """Let the signals that end a process unwind it."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    with _handlers(_SIGNALS, leave):
        yield


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let nobody's impatience keep the cleaning up from its end."""
    with _handlers((*_SIGNALS, signal.SIGINT), signal.SIG_IGN):
        yield


@contextmanager
def _handlers(numbers: tuple[int, ...], handler: object) -> Iterator[None]:
    """Set handlers, where this thread may."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}  # type: ignore[arg-type]
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)

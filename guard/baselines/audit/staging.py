"""What git would commit of the baselines: files that an accept wrote and nobody staged. Asks git; writes nothing."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.audit.fault import Fault
from guard.baselines.git import GitError, git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from guard.config import Config

# Tags of git ls-files -t; H and S are tracked as they are
_UNMERGED, _REMOVED, _CHANGED, _OTHER = "M", "R", "C", "?"
_SAID = {
    _UNMERGED: ("is unmerged", "git add -- {}"),
    _REMOVED: ("is deleted, and its deletion is not staged", "git rm --cached -- {}"),
    _CHANGED: ("has changes that are not staged", "git add -- {}"),
    _OTHER: ("is not tracked", "git add --force -- {}"),
}


class Staging(NamedTuple):
    """What the index lacks. Paths are relative to the project's root."""

    files: Mapping[str, str]
    """Path below ``baselines/`` -> tag."""
    state: tuple[str, ...] = ()
    """Tracked files of guard's own state."""
    sources: frozenset[str] | None = None
    """Tracked files below the checks' root; None where nobody knows."""

    @property
    def untracked(self) -> frozenset[str]:
        """Files of ``baselines/`` that no commit has had."""
        return frozenset(path for path, tag in self.files.items() if tag == _OTHER)

    def tracks(self, source: str) -> bool:
        """Tell whether a check module is in the index, as far as anybody knows."""
        return self.sources is None or source in self.sources


def read_staging(config: Config, environ: Mapping[str, str]) -> Staging:
    """Ask git for the baselines that are not in the index as they are on disk.

    Args:
        config: the project.
        environ: of this process: ``git commit -a`` and ``git commit PATH`` name an index of their own to hooks.

    Raises:
        GitError: There is no git, or no repository.
    """
    index = _index(config, environ)
    folder, state = (path.relative_to(config.root).as_posix() for path in (config.baselines, config.state))
    # ignored ones too: what git ignores is in no commit
    asked = git(config.root, "ls-files", "-t", "-z", "-c", "-m", "-d", "-o", "--", folder, index=index)
    rows = (os.fsdecode(row).partition(" ") for row in asked.split(b"\0") if row)
    # one file may have several rows; a deleted one is a changed one, too
    files: dict[str, str] = {}
    for tag, _, path in rows:
        if tag in _SAID and files.get(path) != _REMOVED:
            files[path] = tag
    tracked = git(config.root, "ls-files", "-z", "--", state, config.checks_prefix, index=index)
    names = tuple(os.fsdecode(row) for row in tracked.split(b"\0") if row)
    own = tuple(name for name in names if name.startswith(f"{state}/"))
    return Staging(files, own, frozenset(names).difference(own))


def staging_faults(staging: Staging, ours: Callable[[str], bool], claimed: frozenset[str]) -> Iterator[Fault]:
    """Yield what a commit would leave out.

    Args:
        staging: as it is.
        ours: whether a file is one that accept writes.
        claimed: the untracked files that belong to checks that are tracked. Another one may be of work that is not
            in this commit, and is no reason to block it.
    """
    for path, tag in sorted(staging.files.items()):
        if ours(path) and (tag != _OTHER or path in claimed):
            said, fix = _SAID[tag]
            yield Fault(path, 1, "unstaged", said, fix.format(shlex.quote(path)))
    if staging.state:
        first = staging.state[0]
        problem = "guard's own state is tracked: nobody reviews it, and a stranger could bring a cache that lies"
        folder = shlex.quote(first.partition("/")[0])
        yield Fault(first, 1, "state", problem, f"git rm -r --cached -- {folder}")


def _index(config: Config, environ: Mapping[str, str]) -> Path | None:
    """Return the index of the commit that a hook runs for, None for the repository's own."""
    named = environ.get("GIT_INDEX_FILE")
    if not named:
        return None
    try:
        asked = git(config.root, "rev-parse", "--absolute-git-dir", "--show-toplevel")
    except GitError:
        return None
    own, top, *_ = asked.decode(errors="surrogateescape").splitlines()
    index = Path(top, named)
    # the hook may be another repository's
    return index if index.is_file() and index.resolve().is_relative_to(Path(own).resolve()) else None

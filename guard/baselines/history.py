"""What git knows of the baselines: the commit that last changed each, and what changed since. Judges nothing.

The ``git`` command, in a fixed number of calls a run and one a commit; none of them writes, not even the index.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from guard.baselines.git import GitError, git

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Above this many, the whole folder is asked for: Windows allows 32 KiB of command line
MANY = 100


@dataclass(frozen=True)
class Repository:
    """A work tree of git's that holds the project."""

    top: Path
    """The work tree's root."""
    prefix: str
    """The project's root below it: "" or ``sub/folder/``."""
    index: Path
    head: str
    """Commit that is checked out, detached or not."""
    boundary: frozenset[str] = frozenset()
    """Commits at which the history of a shallow clone ends: what they seem to add may be older."""


def open_repository(root: Path) -> Repository:
    """Find the work tree that the project lies in.

    Raises:
        GitError: There is none, or it has no commit yet.
    """
    try:
        asked = git(
            root, "rev-parse", "--show-toplevel", "--show-prefix", "--git-path", "shallow", "--git-path", "index"
        )
    except GitError as error:
        raise _no_work_tree(root, error) from None
    top, prefix, shallow, index = asked.decode(errors="surrogateescape").removesuffix("\n").rsplit("\n", 3)
    try:
        head = git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    except GitError:
        raise GitError("the repository has no commit yet", "commit the baselines") from None
    return Repository(Path(top), prefix, root / index, head, _boundary(root / shallow))


def resolve(repository: Repository, ref: str) -> str:
    """Return the commit that a branch, a tag, an abbreviated hash or ``HEAD~1`` names.

    Raises:
        GitError: It names none.
    """
    try:
        asked = git(repository.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except GitError:
        fetch = "git fetch --unshallow" if repository.boundary else "git fetch"
        raise GitError(f'"{ref}" names no commit here', f"{fetch}, or see: git branch --all") from None
    return asked.decode().split()[-1]


def last_changes(repository: Repository, paths: Sequence[str]) -> dict[str, str]:
    """Return, by path, the commit that made each file what it is; a file that HEAD does not have as it is, is left out.

    Args:
        repository: where to look.
        paths: relative to the project's root, as are those that are returned.
    """
    wanted = {f"{repository.prefix}{path}": path for path in paths}
    asked = (
        tuple(wanted) if len(wanted) <= MANY else (os.path.commonpath([str(Path(p).parent) for p in wanted]) or ".",)
    )
    there = _blobs(repository, asked)
    dirty = _differing(repository, "HEAD", "--", *asked)
    left = {path: blob for path, blob in there.items() if path in wanted and path not in dirty}
    found: dict[str, str] = {}
    for commit, path, blob in _log(repository, asked) if left else ():
        # a side branch may have made it something that its merge did not take: only the blob tells
        if left.get(path) == blob:
            found.setdefault(path, commit)
    return {wanted[path]: commit for path, commit in found.items()}


def changed_since(repository: Repository, commit: str, until: str | None = None) -> frozenset[str]:
    """Return the tracked files of the project that differ between a commit and another, or the work tree.

    Paths are relative to the project's root.
    """
    commits = (commit,) if until is None else (commit, until)
    return _below(repository, _differing(repository, *commits, "--", repository.prefix or "."))


def untracked(repository: Repository, paths: Iterable[str] = ()) -> frozenset[str]:
    """Return the project's files that git neither tracks nor ignores; of the given paths, the ignored ones too."""
    asked = tuple(f"{repository.prefix}{path}" for path in paths)
    flags = ("--others", "-z", "--") if asked else ("--others", "--exclude-standard", "-z", "--")
    return _below(repository, _names(git(repository.top, "ls-files", *flags, *(asked or (repository.prefix or ".",)))))


def submodules(repository: Repository, commit: str) -> tuple[str, ...]:
    """Return the submodules of a commit's tree, relative to the work tree's root."""
    tree = git(repository.top, "ls-tree", "-r", "-z", commit).split(b"\0")
    return tuple(_text(line.partition(b"\t")[2]) for line in tree if line.startswith(b"160000 "))


def texts(repository: Repository, path: str, commits: Iterable[str]) -> Mapping[str, str | None]:
    """Return a file's text at each of some commits; None where it was not there.

    Args:
        repository: where to look.
        path: relative to the project's root.
        commits: full hashes.
    """
    asked = tuple(dict.fromkeys(commits))
    if not asked:
        return {}
    lines = "".join(f"{commit}:{repository.prefix}{path}\n" for commit in asked)
    answer = git(repository.top, "cat-file", "--batch", data=lines.encode(errors="surrogateescape"))
    found: dict[str, str | None] = {}
    for commit in asked:
        head, _, rest = answer.partition(b"\n")
        size = int(head.split()[-1]) if head.split()[-2:-1] == [b"blob"] else None
        found[commit] = None if size is None else rest[:size].decode(errors="replace")
        answer = rest if size is None else rest[size + 1 :]
    return found


_DIFF = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
# -c: a merge is told only where its file is none of its parents'; a clean one made nothing
_LOG = (
    "-c",
    "log.showRoot=true",
    "log",
    "--format=%x00%H",
    "--raw",
    "-z",
    "-c",
    "--no-abbrev",
    "--no-renames",
    "--no-show-signature",
    "HEAD",
)


def _no_work_tree(root: Path, error: GitError) -> GitError:
    if "not a git repository" in error.problem:
        return GitError("there is no git repository", "git init, and commit the baselines")
    if "must be run in a work tree" in error.problem:
        return GitError("the git repository is bare, without a work tree", "run guard in a clone or a worktree of it")
    if "dubious ownership" in error.problem:
        return GitError(error.problem, f"git config --global --add safe.directory {root}")
    return error


def _boundary(shallow: Path) -> frozenset[str]:
    try:
        return frozenset(shallow.read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()


def _differing(repository: Repository, *arguments: str) -> frozenset[str]:
    """Return what ``git diff`` names; on a copy of the index, for it would note in it which files it found the same.

    GIT_OPTIONAL_LOCKS keeps only ``git status`` from that, and a commit of the user's would meet the lock.
    """
    with tempfile.TemporaryDirectory(prefix="guard-index-") as folder:
        index = Path(folder, "index")
        with suppress(FileNotFoundError):
            # with its time: git looks into files that are not older than the index, and takes others for unchanged
            shutil.copy2(repository.index, index)
        return _names(git(repository.top, *_DIFF, *arguments, index=index))


def _blobs(repository: Repository, asked: tuple[str, ...]) -> dict[str, str]:
    tree = git(repository.top, "ls-tree", "-r", "-z", "HEAD", "--", *asked)
    rows = (line.partition(b"\t") for line in tree.split(b"\0") if line)
    return {_text(path): head.split()[2].decode() for head, _, path in rows}


def _log(repository: Repository, asked: tuple[str, ...]) -> Iterable[tuple[str, str, str]]:
    """Yield (commit, path, blob) of each change, newest first."""
    commit = status = ""
    for token in git(repository.top, *_LOG, "--", *asked).split(b"\0"):
        if status:
            yield commit, _text(token), status.split()[-2]
            status = ""
            continue
        field = token.decode(errors="replace").strip()
        status, commit = (field, commit) if field.startswith(":") else ("", field or commit)


def _names(listed: bytes) -> frozenset[str]:
    return frozenset(_text(name) for name in listed.split(b"\0") if name)


def _below(repository: Repository, names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.removeprefix(repository.prefix) for name in names if name.startswith(repository.prefix))


def _text(name: bytes) -> str:
    return os.fsdecode(name)

"""The baselines that a branch re-recorded, as git and the work tree have them. Reads only; judges nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.baselines.git import GitError, git
from guard.baselines.history import open_repository, resolve, untracked
from guard.baselines.names import SUFFIX
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from guard.baselines.history import Repository
    from guard.config import Config

# No renames: among many short files that are nearly alike, git pairs any two
_DIFF = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True)
class Rerecorded:
    """One file of ``baselines/`` that is not what it was. Paths are relative to the project's root."""

    path: str
    before: bytes | None
    """None where it was not there."""
    after: bytes | None
    """None where it is gone."""


@dataclass(frozen=True)
class Since:
    """What a branch did to the baselines."""

    base: str
    """The commit where the branch left the other: full hash."""
    files: tuple[Rerecorded, ...]
    """In the order of paths; not only graphs."""


def rerecorded(config: Config, ref: str) -> Since:
    """Compare the baselines of the work tree, committed or not, with those of its merge base with ``ref``.

    Raises:
        GitError: No git, no such commit, or no common ancestor in the history that is here.
        GuardError: A file cannot be read.
    """
    repository = open_repository(config.root)
    base = _merge_base(repository, ref)
    folder = config.baselines.relative_to(config.root).as_posix()
    new = {path for path in untracked(repository) if path.startswith(f"{folder}/")}
    paths = sorted(new | _moved(repository, base, folder))
    before = _blobs(repository, base, paths)
    return Since(base, tuple(Rerecorded(path, before.get(path), _content(config.root / path, path)) for path in paths))


def is_graph(file: Rerecorded) -> bool:
    """Tell a baseline from what lies beside it."""
    return file.path.endswith(SUFFIX)


def _merge_base(repository: Repository, ref: str) -> str:
    other = resolve(repository, ref)
    try:
        return git(repository.top, "merge-base", other, "HEAD").decode().split()[0]
    except GitError:
        tip = "git fetch --unshallow" if repository.boundary else None
        raise GitError(f'"{ref}" and this branch have no commit in common here', tip) from None


def _moved(repository: Repository, base: str, folder: str) -> set[str]:
    """Return the tracked files that differ, relative to the project's root."""
    listed = git(repository.top, *_DIFF, base, "--", f"{repository.prefix}{folder}").decode(errors="surrogateescape")
    return {path.removeprefix(repository.prefix) for path in listed.split("\0") if path}


def _blobs(repository: Repository, commit: str, paths: Iterable[str]) -> Mapping[str, bytes]:
    """Return the files that a commit has, in one call."""
    asked = [path for path in dict.fromkeys(paths) if "\n" not in path]
    if not asked:
        return {}
    lines = "".join(f"{commit}:{repository.prefix}{path}\n" for path in asked)
    answer = git(repository.top, "cat-file", "--batch", data=lines.encode(errors="surrogateescape"))
    found: dict[str, bytes] = {}
    at = 0
    for path in asked:
        end = answer.index(b"\n", at)
        head, at = answer[at:end].split(b" "), end + 1
        if head[-2:-1] == [b"blob"]:
            size = int(head[-1])
            found[path] = answer[at : at + size]
            at += size + 1
    return found


def _content(path: Path, shown: str) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GuardError(f'"{shown}" cannot be read: {error.strerror}') from error

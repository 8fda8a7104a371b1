"""The trace costs that were accepted, commit by commit, as git has them. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.baselines import costs
from guard.baselines.costs import CostSyntaxError
from guard.baselines.git import git
from guard.baselines.history import open_repository
from guard.baselines.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from guard.baselines.history import Repository
    from guard.baselines.section import Section
    from guard.config import Config

# -c: a merge is told only where its file is none of its parents'
_LOG = ("-c", "log.showRoot=true", "log", "--date=short", "--format=%x00%H %cd", "--raw", "-z", "-c", "--no-abbrev")
_FLAGS = ("--no-renames", "--no-show-signature", "HEAD")
MANY = 100
"""Above this many files, the whole folder is asked for: Windows allows 32 KiB of command line."""


class Step(NamedTuple):
    """One accepted value."""

    commit: str
    """Full hash; "" where it is not committed yet."""
    date: str
    """Of the commit, ``2026-11-30``."""
    section: Section


class Crept(NamedTuple):
    """How the accepted trace cost of a check crept under one environment."""

    check: str
    environment: str
    steps: tuple[Step, ...]
    """From the oldest, each of another number of calls, propagations or growth than the one before."""


class History(NamedTuple):
    """Of some checks."""

    crept: tuple[Crept, ...]
    shallow: bool
    """The history here has an end: what was accepted before is not known."""
    unreadable: int
    """Versions of the files that do not parse, and are left out."""


class _Version(NamedTuple):
    commit: str
    date: str
    path: str
    blob: str


def cost_history(config: Config, checks: Sequence[str]) -> History:
    """Read every accepted trace cost of some checks, and what the work tree has beyond it.

    Raises:
        GitError: There is no git, no repository, or it has no commit yet.
    """
    repository, store = open_repository(config.root), Store(config)
    paths = {f"{repository.prefix}{store.shown(store.cost_path(check))}": check for check in checks}
    folder = f"{repository.prefix}{store.shown(config.baselines)}"
    asked = tuple(paths) if len(paths) <= MANY else (folder,)
    versions = (
        [version for version in reversed(list(_log(repository, asked))) if version.path in paths] if asked else []
    )
    texts = _texts(repository, {version.blob for version in versions})
    told: dict[str, list[tuple[str, str, bytes]]] = {check: [] for check in checks}
    for version in versions:
        if version.blob in texts:  # else it was removed
            told[paths[version.path]].append((version.commit, version.date, texts[version.blob]))
    for check in checks:
        told[check] += _uncommitted(store, check, told[check])
    return _read(told, shallow=bool(repository.boundary))


def _log(repository: Repository, asked: tuple[str, ...]) -> Iterator[_Version]:
    """Yield each change of a file, newest first."""
    head, status = "", ""
    for token in git(repository.top, *_LOG, *_FLAGS, "--", *asked).split(b"\0"):
        text = token.decode(errors="surrogateescape")
        if status:
            commit, _, date = head.partition(" ")
            yield _Version(commit, date, text, status.split()[-2])
            status = ""
        elif text.lstrip().startswith(":"):
            status = text.strip()
        elif text.strip():
            head = text.strip()


def _texts(repository: Repository, blobs: Iterable[str]) -> Mapping[str, bytes]:
    """Return what the blobs hold, in one call; one that is not there is left out."""
    asked = sorted(blob for blob in blobs if blob.strip("0"))
    if not asked:
        return {}
    answer = git(repository.top, "cat-file", "--batch", data="".join(f"{blob}\n" for blob in asked).encode())
    found: dict[str, bytes] = {}
    at = 0
    for blob in asked:
        end = answer.index(b"\n", at)
        head, at = answer[at:end].split(b" "), end + 1
        if head[1:2] == [b"blob"]:
            size = int(head[2])
            found[blob], at = answer[at : at + size], at + size + 1
    return found


def _uncommitted(store: Store, check: str, committed: list[tuple[str, str, bytes]]) -> list[tuple[str, str, bytes]]:
    now = store.read_cost(check)
    return [] if now is None or (committed and committed[-1][2] == now) else [("", "", now)]


def _read(told: Mapping[str, list[tuple[str, str, bytes]]], *, shallow: bool) -> History:
    crept: list[Crept] = []
    unreadable = 0
    for check, versions in told.items():
        steps: dict[str, list[Step]] = {}
        for commit, date, data in versions:
            try:
                sections = costs.parse(data)
            except CostSyntaxError:
                unreadable += 1
                continue
            for key, section in sections.items():
                before = steps.setdefault(key, [])
                if not before or _value(before[-1].section) != _value(section):
                    before.append(Step(commit, date, section))
        crept += [Crept(check, key, tuple(found)) for key, found in sorted(steps.items())]
    return History(tuple(crept), shallow, unreadable)


def _value(section: Section) -> tuple[object, ...]:
    return section.calls, section.propagations, section.growth

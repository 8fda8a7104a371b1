"""All that is looked at before a commit, in order. Judges nothing by itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.audit.beside import ENVIRONMENT, REASONS
from guard.baselines.audit.cache import Cache
from guard.baselines.audit.coverage import Held, alone, homes, missing, orphans
from guard.baselines.audit.folder import read_folder
from guard.baselines.audit.staging import Staging, read_staging, staging_faults, tracked
from guard.baselines.audit.texts import Texts, split
from guard.baselines.audit.tree import Tree
from guard.baselines.git import GitError
from guard.baselines.names import COST_SUFFIX, SUFFIX, check_of, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from guard.baselines.audit.fault import Fault
    from guard.baselines.audit.folder import Found
    from guard.config import Config

NOT_CI = ("", "0", "false", "no", "off")


class Audit(NamedTuple):
    """What was found."""

    faults: tuple[Fault, ...]
    """In the order of paths and lines."""
    notes: tuple[str, ...]
    baselines: int


def audit(config: Config, environ: Mapping[str, str]) -> Audit:
    """Look at every baseline, every check module, and what git would commit of them.

    Raises:
        GuardError: A file cannot be read.
    """
    notes: list[str] = []
    try:
        staging = read_staging(config, environ)
    except GitError as error:
        staging = Staging({}, ())
        why = "this is no git repository" if "not a git repository" in error.problem else error.problem
        notes.append(f"what is staged was not looked at: {why}")
    # a cache that somebody committed may call anything right, and CI starts from none
    in_ci = environ.get("CI", "").lower() not in NOT_CI
    cache = Cache(config.state, trusted=not in_ci and not staging.state)
    found = read_folder(config.baselines, _folder(config))
    look = _Look(config, Tree(config, cache), _held(config, found), staging)
    faults = [*_texts(config, cache, found), *look.coverage(), *look.staged(environ)]
    faults += alone(f"{_folder(config)}/{path}" for path, _ in found)
    cache.write()
    notes += (*look.notes, *_waiting(config))
    return Audit(tuple(sorted(set(faults))), tuple(notes), len(look.held))


class _Look:
    """Baselines, check modules and index, held against each other."""

    def __init__(self, config: Config, tree: Tree, held: Sequence[Held], staging: Staging) -> None:
        self.config, self.tree, self.held, self.staging = config, tree, held, staging
        self.notes: tuple[str, ...] = ()

    def coverage(self) -> Iterator[Fault]:
        """Yield orphans and missing baselines; an untracked orphan is of work that is not in this commit."""
        untracked = self.staging.untracked
        yield from orphans(self.tree, [one for one in self.held if one.path not in untracked])
        yield from missing(self.tree, self.held, self.config.checks_prefix)

    def staged(self, environ: Mapping[str, str]) -> Iterator[Fault]:
        """Yield what git would leave out of a commit."""
        claimed = self._claimed(environ)
        left = tuple(path for path in sorted(self.staging.untracked) if _is_ours(path) and path not in claimed)
        if left:
            self.notes = (f"{len(left)} untracked without a tracked check, such as {quoted(left[0])}: not judged",)
        yield from staging_faults(self.staging, _is_ours, claimed)

    def _claimed(self, environ: Mapping[str, str]) -> frozenset[str]:
        """Return the untracked files that belong to checks that git tracks."""
        untracked = self.staging.untracked
        if not untracked:
            return frozenset()
        new = [one for one in self.held if one.path in untracked]
        modules = {one.path: module for one, module, _ in homes(self.tree, new) if module}
        known = tracked(self.config, environ, sorted(set(modules.values())))
        graphs = {path for path, module in modules.items() if module in known}
        recorded = graphs | {one.path for one in self.held if one.path not in untracked}
        beside = {path for path in untracked if _graph_of(path) in recorded}
        shared = {f"{_folder(self.config)}/{name}" for name in (ENVIRONMENT, REASONS)} if recorded else set()
        return frozenset(graphs | beside | (shared & untracked))


def _texts(config: Config, cache: Cache, found: Sequence[Found]) -> Iterator[Fault]:
    texts, folder = Texts(), _folder(config)
    for path, data in found:
        shown = f"{folder}/{path}"
        yield from cache.faults(path, data, partial(texts.faults, path, data, shown))


def _held(config: Config, found: Sequence[Found]) -> tuple[Held, ...]:
    graphs = ((path, split(data)[0] or check_of(path)) for path, data in found if path.endswith(SUFFIX))
    folder = _folder(config)
    return tuple(Held(check, f"{folder}/{path}") for path, check in graphs if check is not None)


def _folder(config: Config) -> str:
    """Return ``baselines`` as messages print it."""
    return config.baselines.relative_to(config.root).as_posix()


def _is_ours(path: str) -> bool:
    name = path.rpartition("/")[2]
    return path.endswith((SUFFIX, COST_SUFFIX)) or name in (ENVIRONMENT, REASONS)


def _graph_of(path: str) -> str | None:
    """Return the graph that a file of costs lies beside."""
    return f"{path[: -len(COST_SUFFIX)]}{SUFFIX}" if path.endswith(COST_SUFFIX) else None


def _waiting(config: Config) -> tuple[str, ...]:
    count = sum(1 for _ in (config.state / "pending").rglob(f"*{SUFFIX}.json"))
    return (f"{count} wait to be accepted: guard review",) if count else ()

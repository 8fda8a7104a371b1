"""All that is looked at before a commit, in order. Judges nothing by itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.audit.cache import Cache
from guard.baselines.audit.committed import Committed
from guard.baselines.audit.coverage import Held, alone
from guard.baselines.audit.folder import read_folder
from guard.baselines.audit.staging import Staging, read_staging
from guard.baselines.audit.texts import Texts, split
from guard.baselines.audit.tree import Tree
from guard.baselines.git import GitError
from guard.baselines.names import SUFFIX, check_of

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
        staging = Staging({})
        why = "this is no git repository" if "not a git repository" in error.problem else error.problem
        notes.append(f"what is staged was not looked at: {why}")
    # a cache that somebody committed may call anything right, and CI starts from none
    in_ci = environ.get("CI", "").lower() not in NOT_CI
    cache = Cache(config.state, trusted=not in_ci and not staging.state)
    found = read_folder(config.baselines, _folder(config))
    held = _held(config, found)
    committed = Committed(config, Tree(config, cache), held, staging)
    faults = [*_texts(config, cache, found), *committed.faults()]
    faults += alone(f"{_folder(config)}/{path}" for path, _ in found)
    cache.write()
    notes += (*committed.notes(), *_waiting(config))
    return Audit(tuple(sorted(set(faults))), tuple(notes), len(held))


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


def _waiting(config: Config) -> tuple[str, ...]:
    count = sum(1 for _ in (config.state / "pending").rglob(f"*{SUFFIX}.json"))
    return (f"{count} wait to be accepted: guard review",) if count else ()

"""Baselines, check modules and the index, held against each other: what would a commit be? Pure but for the modules.

Work in progress is left alone: a hook sees files that git does not track beside what is committed, and these are no
reason to block it.
"""

from __future__ import annotations

import shlex
from functools import cached_property
from typing import TYPE_CHECKING

from guard.baselines.audit.beside import ENVIRONMENT, REASONS
from guard.baselines.audit.coverage import homes, missing, orphans
from guard.baselines.audit.fault import Fault
from guard.baselines.audit.staging import staging_faults
from guard.baselines.names import COST_SUFFIX, SUFFIX, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.baselines.audit.coverage import Held, Home
    from guard.baselines.audit.staging import Staging
    from guard.baselines.audit.tree import Tree
    from guard.config import Config


class Committed:
    """What a commit would have of the baselines and their checks."""

    def __init__(self, config: Config, tree: Tree, held: Sequence[Held], staging: Staging) -> None:
        self._held, self._staging = held, staging
        self._folder = config.baselines.relative_to(config.root).as_posix()
        self._homes = tuple(homes(tree, held))
        self._missing = tuple(missing(tree, held, config.checks_prefix))

    def faults(self) -> Iterator[Fault]:
        """Yield orphans, missing baselines, and what is not staged."""
        yield from orphans(self._tracked)
        yield from (fault for fault in self._missing if self._staging.tracks(fault.path))
        yield from self._modules()
        yield from staging_faults(self._staging, _is_ours, self._claimed)

    def notes(self) -> Iterator[str]:
        """Yield what was left alone."""
        left = [path for path in self._staging.untracked if _is_ours(path) and path not in self._claimed]
        left += [fault.path for fault in self._missing if not self._staging.tracks(fault.path)]
        if left:
            yield f"files that git does not track: {len(left)}, such as {quoted(min(left))}; not judged"

    @cached_property
    def _tracked(self) -> tuple[Home, ...]:
        """The baselines that git tracks, or all of them where nobody knows."""
        return tuple(one for one in self._homes if one.held.path not in self._staging.untracked)

    def _modules(self) -> Iterator[Fault]:
        """Yield the modules that a commit leaves out, although it has baselines of theirs."""
        for path in sorted({one.module for one in self._tracked if one.module}):
            if not self._staging.tracks(path):
                problem = "is not tracked, and baselines of its checks are"
                yield Fault(path, 1, "unstaged", problem, f"git add -- {shlex.quote(path)}")

    @cached_property
    def _claimed(self) -> frozenset[str]:
        """The untracked files that belong to checks that git tracks."""
        untracked = self._staging.untracked
        new = (one for one in self._homes if one.held.path in untracked)
        graphs = {one.held.path for one in new if one.module and self._staging.tracks(one.module)}
        recorded = graphs | {one.held.path for one in self._tracked}
        beside = {path for path in untracked if _graph_of(path) in recorded}
        shared = {f"{self._folder}/{name}" for name in (ENVIRONMENT, REASONS)} if recorded else set()
        return frozenset(graphs | beside | (shared & untracked))


def _is_ours(path: str) -> bool:
    name = path.rpartition("/")[2]
    return path.endswith((SUFFIX, COST_SUFFIX)) or name in (ENVIRONMENT, REASONS)


def _graph_of(path: str) -> str | None:
    """Return the graph that a file of costs lies beside."""
    return f"{path[: -len(COST_SUFFIX)]}{SUFFIX}" if path.endswith(COST_SUFFIX) else None

"""What a check remembers of the last, and leaves for the next: commands' side of guard.freshness. Imports no pytest."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.baselines.disk import open_state
from guard.baselines.names import tests_of
from guard.baselines.selectors import matches
from guard.commands.provenance import checked_out
from guard.commands.selection import from_root
from guard.environment import current
from guard.findings import Run
from guard.freshness import manifest
from guard.freshness.edges import SUFFIX, Edge, read_edges
from guard.freshness.held import Fresh, look, shown
from guard.freshness.keep import Ran, watched
from guard.freshness.keep import manifest as made
from guard.freshness.surroundings import in_ci, surroundings
from guard.session.fresh import FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from guard.commands.options import CheckOptions
    from guard.config import Config
    from guard.findings import Outcome
    from guard.freshness.graph import Use


@dataclass(frozen=True)
class Memory:
    """Of one check."""

    config: Config
    surroundings: str
    started: int
    before: Mapping[Use, str]
    fresh: Fresh
    keeps: bool = True
    """Whether this run is remembered: what was not replayed has not held."""

    def answer(self, options: CheckOptions) -> Run | None:
        """Return the run where nothing that was asked for has moved; None where something has to be traced."""
        known = self.fresh.known
        if not known or options.keyword is not None or options.markers is not None:
            return None
        started = time.perf_counter()
        tests = self._named(options) if options.ids else known
        held = {one.test for one in self.fresh.held}
        if not tests or not held.issuperset(tests):
            return None
        # a module that skipped itself has no tests
        wanted = tests if options.ids else (*tests, *(held - set(known)))
        return Run(
            outcomes=self.outcomes(wanted),
            full=not options.ids,
            collected=len(tests),
            environment=current(options.device).as_dict(),
            known=known,
            selected=tuple(tests),
            commit=checked_out(self.config.root),
            seconds=time.perf_counter() - started,
        )

    def outcomes(self, tests: Collection[str]) -> tuple[Outcome, ...]:
        """Return what is known of tests that did not run."""
        wanted = frozenset(tests)
        return tuple(shown(outcome) for one in self.fresh.held if one.test in wanted for outcome in one.outcomes)

    def leave(self, folder: Path) -> None:
        """Tell the workers to hear what checks depend on, and which need not run."""
        tests = [one.test for one in self.fresh.held]
        (folder / FILE).write_text(json.dumps(tests), encoding="ascii")

    def keep(self, run: Run, edges: tuple[Edge, ...]) -> None:
        """Write the next check's memory; never fails a run."""
        if not self.keeps:
            return
        path = manifest.place(str(self.config.state))
        clean = run.full and not any(outcome.findings for outcome in run.outcomes if not _is_of_a_test(outcome, run))
        ran = Ran(
            config=self.config,
            surroundings=self.surroundings,
            started=self.started,
            before=self.before,
            edges=edges,
            outcomes=run.outcomes,
            known=run.known if clean else (),
            fresh=self.fresh,
        )
        try:
            open_state(self.config.state)
            found = None if run.interrupted else made(ran)
        except Exception:  # noqa: BLE001 - a file that goes away under the reader, or a defect: the run was right all the same
            found = None
        if found is None or not manifest.write(path, found):
            manifest.drop(path)

    def _named(self, options: CheckOptions) -> tuple[str, ...]:
        """Return the tests that ids name, none where one of them names nothing: then the engine says so."""
        known, prefix = self.fresh.known, self.config.checks_prefix
        found: dict[str, None] = {}
        for selector in from_root(options.ids, self.config):
            named = next((some for test in tests_of(selector) if (some := matches(test, known, prefix))), ())
            if not named and not options.lenient:
                return ()
            found.update(dict.fromkeys(named))
        return tuple(found)


def remember(config: Config, options: CheckOptions, *, started: int) -> Memory | None:
    """Return what is remembered; None where a run like this is neither answered from memory nor remembered."""
    if not _is_plain(options):
        return None
    mark = surroundings(os.environ, options.device)
    fresh = look(manifest.place(str(config.state)), mark) if _may_answer(options) else Fresh()
    return Memory(config, mark, started, watched(config, sys.path), fresh, keeps=options.replay == "on")


def forget(config: Config) -> None:
    """Drop what is remembered: a run that is not remembered has seen a check fail."""
    manifest.drop(manifest.place(str(config.state)))


def heard(folder: Path) -> tuple[Edge, ...]:
    """Read what the workers of a run left."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return tuple(edge for path in files for edge in read_edges(path.read_text(encoding="utf-8", errors="replace")))


def _is_plain(options: CheckOptions) -> bool:
    special = options.pdb or options.pytest_args or options.against or options.shard or options.require_device
    return (
        not special
        and options.alarms == "on"
        and options.fixes == "on"
        and options.trace_cost != "off"
        and not in_ci(os.environ)
    )


def _may_answer(options: CheckOptions) -> bool:
    # a report of a part, or pytest's file, would lack the checks that did not run
    complete = options.junitxml is not None or options.report is not None
    return options.cache and not complete


def _is_of_a_test(outcome: Outcome, run: Run) -> bool:
    return any(test in run.known for test in tests_of(outcome.check))

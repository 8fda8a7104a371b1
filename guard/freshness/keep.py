"""Make the manifest of a run: which of its checks held, what each depends on, and how that is now."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.names import short_id
from guard.findings import HOLDS, SKIPPED
from guard.freshness import installed, project
from guard.freshness.graph import UNKEYABLE, Graph, Use
from guard.freshness.held import Contents, Held, dump
from guard.freshness.manifest import Manifest
from guard.freshness.places import Places
from guard.freshness.rows import FILE, IMPORTS, STAT, UNREADABLE, VARIABLE, has_stamp, speakable, stamp, trusted, value
from guard.freshness.surroundings import PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from guard.config import Config
    from guard.findings import Outcome
    from guard.freshness.edges import Edge
    from guard.freshness.held import Fresh

_UNKEYED = (UNREADABLE, "special")


class Ran(NamedTuple):
    """What a run of checks left."""

    config: Config
    surroundings: str
    started: int
    """time.time_ns() before any of it was read: what is younger may not be what the checks saw."""
    before: Mapping[Use, str]
    """What ``watched`` saw then."""
    edges: Sequence[Edge]
    outcomes: Sequence[Outcome]
    known: tuple[str, ...]
    """Short ids of all tests, where all were collected and nothing but checks had a finding; else empty."""
    fresh: Fresh
    """What was not run, because it had not moved."""


def watched(config: Config, path: Iterable[str]) -> dict[Use, str]:
    """Look at what may come or go while checks run, and would then be taken for what they saw."""
    uses = {use for use in (*project.checks(config), *project.baselines(config)) if use.kind != FILE}
    uses |= {Use(IMPORTS, os.path.realpath(folder or ".")) for folder in path}
    return {use: value(*use) for use in uses}


def manifest(ran: Ran) -> Manifest | None:
    """Return the manifest to write; None where nothing is worth one, or what every check depends on cannot be kept."""
    return _Making(ran).manifest()


class _Making:
    """One manifest in the making: gives every use its row, once."""

    def __init__(self, ran: Ran) -> None:
        self._ran = ran
        self._now = time.time_ns()
        self._lines: list[str] = []
        self._numbers: dict[Use, int | None] = {}
        self._before = {Use(*_ends(row)): row for row in ran.fresh.rows}
        self._temporary = os.path.realpath(tempfile.gettempdir()) + os.sep
        self._places = Places(str(ran.config.root))
        self._graph = Graph(self._places, ran.edges, _path(ran.edges))

    def manifest(self) -> Manifest | None:
        ran = self._ran
        held = [*self._carried(), *self._held()]
        everybody = self._rows(self._everybody())
        if everybody is None or not held:
            return None
        kept = {outcome.nodeid for one in held for outcome in one.outcomes}
        collection, known = self._collection()
        if any(outcome.nodeid not in kept and "::" not in outcome.nodeid for outcome in ran.outcomes):
            known = ()  # a module that skipped itself for a reason that cannot be kept
        contents = Contents(known, everybody, collection, self._names(), tuple(_without(held, everybody)))
        return Manifest(ran.surroundings, _summary(contents), self._lines, dump(contents))

    def _everybody(self) -> set[Use]:
        graph, config = self._graph, self._ran.config
        path = _path(self._ran.edges)
        roots = [os.path.realpath(folder or ".") for folder in path]
        uses = {*project.settings(config), *graph.everybody(), *self._old(self._ran.fresh.everybody)}
        uses |= {*installed.distributions(roots), *installed.sources(roots, graph.modules, self._places)}
        packages = {os.path.dirname(file) for file in graph.modules.values() if file.endswith("__init__.py")}
        return uses | {Use(IMPORTS, folder) for folder in (*roots, *packages)}

    def _held(self) -> list[Held]:
        """Return the tests of this run that held, and whose outcome can be kept."""
        ran = {edge.user for edge in self._ran.edges if edge.kind == "ran"}
        tests: dict[str, list[Outcome]] = {}
        for outcome in self._ran.outcomes:
            if not outcome.unchanged:
                tests.setdefault(outcome.nodeid, []).append(outcome)
        found = (self._test(nodeid, outcomes) for nodeid, outcomes in tests.items() if nodeid in ran)
        return [one for one in found if one is not None]

    def _test(self, nodeid: str, outcomes: list[Outcome]) -> Held | None:
        if not all(map(_can_be_kept, outcomes)):
            return None
        config = self._ran.config
        path, _, test = nodeid.partition("::")
        module = os.path.realpath(config.root / path)
        function = test.partition("[")[0].rpartition("::")[2]
        around = list(project.around(config, module))
        users = [module, f"{module}::{function}", *(use.subject for use in around if use.subject.endswith(".py"))]
        uses = {*self._graph.reach(users), *around}
        for outcome in outcomes:
            uses.update(project.baseline(config, outcome.check))
        rows = self._rows(uses)
        return None if rows is None else Held(short_id(nodeid, config.checks_prefix), tuple(outcomes), rows)

    def _carried(self) -> list[Held]:
        """Return what did not run because it had not moved, as far as it is there and still has not."""
        ran = {outcome.nodeid for outcome in self._ran.outcomes if not outcome.unchanged}
        gone = set(self._ran.known)
        found: list[Held] = []
        for one in self._ran.fresh.held:
            rows = self._rows(self._old(one.rows))
            there = not gone or one.test in gone
            if rows is not None and there and one.outcomes[0].nodeid not in ran:
                found.append(one._replace(rows=rows))
        return found

    def _collection(self) -> tuple[frozenset[int], tuple[str, ...]]:
        """Return what decides which checks there are, and them; nothing where that is not known."""
        ran = self._ran
        if ran.known:
            uses = {*project.checks(ran.config), *project.baselines(ran.config)}
            uses |= self._graph.reach(use.subject for use in tuple(uses) if use.kind == FILE)
            known = ran.known
        else:
            uses, known = self._old(ran.fresh.collection), ran.fresh.known
        rows = self._rows(uses)
        return (frozenset(), ()) if rows is None or not known else (rows, known)

    def _old(self, rows: Iterable[int]) -> set[Use]:
        lines = self._ran.fresh.rows
        return {Use(*_ends(lines[row])) for row in rows}

    def _rows(self, uses: Iterable[Use]) -> frozenset[int] | None:
        """Return the rows of what is depended on; None where one of it cannot be kept."""
        found: set[int] = set()
        for use in uses:
            if self._is_own(use) or (use.kind == VARIABLE and use.subject.startswith(PREFIXES)):
                continue  # the latter are of the surroundings
            if use not in self._numbers:
                line = self._line(use)
                self._numbers[use] = None if line is None else len(self._lines)
                self._lines += [] if line is None else [line]
            number = self._numbers[use]
            if number is None:
                return None
            found.add(number)
        return frozenset(found)

    def _is_own(self, use: Use) -> bool:
        """Tell whether a file was made by the run itself, for its own use."""
        if (
            use.kind != FILE
            or not use.subject.startswith(self._temporary)
            or self._places.kind(use.subject) == "project"
        ):
            return False
        mark = stamp(use.subject)
        return not mark or _youngest(mark) >= self._ran.started

    def _line(self, use: Use) -> str | None:
        if use.kind == UNKEYABLE or not speakable(use.subject):
            return None
        mark = stamp(use.subject) if has_stamp(use.kind) else ""
        old = self._before.get(use)
        if old is not None and mark and old.split("\t")[1] == mark:
            return old
        if use.kind in (FILE, STAT) and _youngest(mark or stamp(use.subject)) >= self._ran.started:
            return None
        now = value(*use)
        if now in _UNKEYED or self._ran.before.get(use, now) != now:
            return None
        return f"{use.kind}\t{trusted(mark, self._now)}\t{now}\t{use.subject}"

    def _names(self) -> dict[int, frozenset[str]]:
        """Return what was asked for, by the import root that could have it."""
        below: dict[str, set[str]] = {}
        for name in self._graph.names:
            parts = name.split(".")
            for depth, part in enumerate(parts):
                below.setdefault(".".join(parts[:depth]), set()).add(part)
        files = self._graph.modules.items()
        packages = {os.path.dirname(file): name for name, file in files if file.endswith("__init__.py")}
        old = {
            subject: names
            for row, names in self._ran.fresh.names.items()
            for _, subject in [_ends(self._ran.fresh.rows[row])]
        }
        return {
            number: (frozenset(below.get(packages.get(use.subject, ""), ())) - self._graph.alone(use.subject))
            | old.get(use.subject, frozenset())
            for use, number in self._numbers.items()
            if use.kind == IMPORTS and number is not None
        }


def _ends(row: str) -> tuple[str, str]:
    kind, _, _, subject = row.split("\t")
    return kind, subject


def _youngest(mark: str) -> int:
    return max(map(int, mark.split(" ")[:2])) if mark else 0


def _path(edges: Iterable[Edge]) -> list[str]:
    """Return the workers' import path, in their order."""
    entries = {edge.subject: int(edge.user) for edge in edges if edge.kind == "path"}
    return sorted(entries, key=lambda entry: entries[entry])


def _can_be_kept(outcome: Outcome) -> bool:
    """Tell whether a later run may repeat an outcome: what policy warns of, or what waits, is seen each time."""
    silent = not (outcome.findings or outcome.warned or outcome.ignored or outcome.pending)
    return silent and outcome.status in {HOLDS, SKIPPED}


def _without(held: Iterable[Held], everybody: frozenset[int]) -> Iterable[Held]:
    return (one._replace(rows=one.rows - everybody) for one in held)


def _summary(contents: Contents) -> str:
    """Return what the quick answer needs; it gives none where a note is to be said."""
    outcomes = [outcome for one in contents.held for outcome in one.outcomes]
    tests = {one.test for one in contents.held}
    plain = bool(contents.known) and set(contents.known) <= tests and not any(outcome.notes for outcome in outcomes)
    skipped = sum(outcome.skipped is not None for outcome in outcomes)
    need = sum(bool(outcome.needs) and outcome.skipped is None for outcome in outcomes)
    return f"{int(plain)} {len(outcomes) - skipped} {skipped} {need}"

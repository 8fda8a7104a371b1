"""Between pytest's objects and the session's data: what the checks of one process share. The hooks end here."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pytest

from guard import config as configuration
from guard.baselines.names import collisions, short_id, tests_of
from guard.baselines.selectors import matches
from guard.findings import Finding, outcome_to_json
from guard.report.terminal import render_finding
from guard.session.auto_ids import automatic_parameter
from guard.session.fresh import still_fresh
from guard.session.guard import Guard
from guard.session.seen import seen, user_line
from guard.session.setting import Setting
from guard.session.settle import settle
from guard.session.shards import durations, share
from guard.session.subject import Subject
from guard.session.watch import Watch
from guard.verdict import judge_drifts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from guard.config import Config
    from guard.session.closure import Closure


@dataclass
class Project:
    """One process of a run: bare pytest, or a worker of ``guard check``."""

    root: Path | None
    """Given by ``guard check``; else found from each test's file."""
    run: Path | None
    """Folder of a contained run."""
    worker: str | None
    device: str
    fixes: Literal["on", "off"]
    counting: Literal["off", "on", "record"] = "off"
    """Trace costs, which only a worker counts: elsewhere too much else runs in the process."""
    replaying: bool = True
    alarms: Literal["on", "full", "seen"] = "on"
    closure: Closure | None = None
    """Hears what checks depend on; only in a worker of a run that is remembered."""
    _settings: dict[Path, Setting] = field(default_factory=dict)
    _shared: dict[str, tuple[str, ...]] | None = None
    _left: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        contained = self.run is not None and self.worker is not None
        self._watch = Watch(self.run if contained else None, self.worker or "main")
        if not contained:
            self.counting = "off"

    def setting(self, folder: Path) -> Setting:
        """Return the setting of the project that a test's folder lies in."""
        folder = self.root or folder
        if folder not in self._settings:
            found = configuration.load(folder)
            self._settings[folder] = Setting(
                found, self.device, self.fixes, self._watch, self.counting, self.closure, self.replaying, self.alarms
            )
        return self._settings[folder]

    def guard(self, item: pytest.Item) -> Guard:
        """Make the fixture of one test."""
        setting = self.setting(item.path.parent)
        test = Subject(self._nodeid(item), self._source(item), self._refusal(item, setting.config))
        return Guard(setting, test)

    def select(self, items: list[pytest.Item], selectors: Sequence[str], *, lenient: bool) -> list[pytest.Item]:
        """Keep in ``items`` what the selectors name; return the rest.

        None is kept where one selector names nothing, unless the choice is ``lenient``.
        """
        ids = [self._id(item) for item in items]
        self._shared = _shared_files(items, ids)
        prefix = self._config(items).checks_prefix if items else ""
        chosen = {selector: _tests(selector, ids, prefix) for selector in selectors}
        unknown = [selector for selector, found in chosen.items() if not found and not lenient]
        wanted = set() if unknown else {check for found in chosen.values() for check in found}
        self._left = {"known": ids, "unknown": unknown}
        if not selectors:
            return []
        dropped = [item for item, check in zip(items, ids, strict=True) if check not in wanted]
        items[:] = [item for item, check in zip(items, ids, strict=True) if check in wanted]
        return dropped

    def share(self, items: list[pytest.Item], number: int, of: int) -> list[pytest.Item]:
        """Keep in ``items`` what one shard of several runs; return the rest."""
        ids = [self._id(item) for item in items]
        self._left["planned"] = ids
        mine = share(ids, durations(self.run), number, of)
        dropped = [item for item, check in zip(items, ids, strict=True) if check not in mine]
        items[:] = [item for item, check in zip(items, ids, strict=True) if check in mine]
        return dropped

    def leave_out(self, items: list[pytest.Item]) -> list[pytest.Item]:
        """Keep in ``items`` what has moved since it last held; return the rest."""
        fresh = still_fresh(self.run)
        still = [item for item in items if self._id(item) in fresh]
        self._left["unchanged"] = [self._id(item) for item in still]
        items[:] = [item for item in items if self._id(item) not in fresh]
        return still

    def leave_collection(self, items: Iterable[pytest.Item]) -> None:
        """Write what this process collected, for the controller."""
        if self.run is not None:
            self._left["selected"] = [self._id(item) for item in items]
            self._left["sources"] = {self._id(item): self._source(item) for item in items}
            (self.run / f"{self.worker or 'main'}.collected").write_text(json.dumps(self._left), encoding="ascii")

    def begin(self, item: pytest.Item) -> None:
        """Watch one test."""
        self._watch.begin(item.nodeid, "setting up", _limit(item))
        if self.closure is not None:
            function = getattr(item, "function", None)
            self.closure.begin(item.path, getattr(item, "originalname", None) or item.name, function)

    def begin_import(self, path: Path, limit: float) -> None:
        """Watch the import of a test module, which may take as long as a check."""
        root = self.root or path.parent
        shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        self._watch.begin(shown, "importing", limit)
        if self.closure is not None:
            self.closure.begin_import(path)

    def left(self, collector: pytest.Collector, end: BaseException) -> pytest.CollectReport:
        """Return the report of an import that ended the process: pytest has none, and xdist would wait for ever."""
        root = self.setting(collector.path.parent).config.root
        where = user_line(pytest.ExceptionInfo.from_exception(end), root)
        said = f"{type(end).__name__}: {end}".rstrip(": ")
        told = f"{where}: in <module>\n" if where else ""
        return pytest.CollectReport(collector.nodeid, "failed", f"{told}E   the import ends the process: {said}", [])

    def enter(self, phase: str) -> None:
        """Note what happens to the test that is watched."""
        self._watch.enter(phase)

    def end(self, nodeid: str) -> None:
        """Stop watching a test or an import."""
        self._watch.end()
        if self.closure is not None:
            self.closure.end(nodeid)

    def close(self) -> None:
        """Give back what was opened."""
        self._watch.close()
        if self.closure is not None:
            self.closure.close()

    def settle(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, guard: Guard | None
    ) -> None:
        """Attach the outcomes of one phase to its report, and show findings in place of guard's own traceback."""
        setting = self.setting(item.path.parent)
        phase = seen(call, report, setting.config.root, self._source(item), self._watch.doing)
        is_check = isinstance(item, pytest.Function)
        if phase.result == "passed" and (report.when != "call" or not is_check):
            return
        recorded = guard.outcomes if guard is not None and report.when == "call" else ()
        outcomes = tuple(
            # the controller of a run learns who moved a graph; here nobody does
            judge_drifts(setting.config.policy, outcome, final=self.run is None)
            for outcome in settle(self._id(item), item.nodeid, recorded, phase)
        )
        report.guard_outcomes = json.dumps([outcome_to_json(outcome) for outcome in outcomes])  # type: ignore[attr-defined]
        findings = [finding for outcome in outcomes for finding in outcome.findings]
        if findings and (report.passed or phase.kind in {"check", "refused", "import"}):
            report.outcome = "failed"
            report.longrepr = "".join(render_finding(finding) for finding in findings).rstrip()
        warned = [finding for outcome in outcomes for finding in outcome.warned]
        if warned:
            report.sections.append(("guard", "".join(render_finding(finding, warned=True) for finding in warned)))

    def _config(self, items: Sequence[pytest.Item]) -> Config:
        return self.setting(items[0].path.parent).config

    def _nodeid(self, item: pytest.Item) -> str:
        """Spell pytest's id from guard's root, which need not be pytest's."""
        root = self.setting(item.path.parent).config.root
        _, separator, test = item.nodeid.partition("::")
        path = item.path.relative_to(root).as_posix() if item.path.is_relative_to(root) else item.path.as_posix()
        return f"{path}{separator}{test}"

    def _id(self, item: pytest.Item) -> str:
        return short_id(self._nodeid(item), self.setting(item.path.parent).config.checks_prefix)

    def _source(self, item: pytest.Item) -> str:
        path, line, _ = item.reportinfo()
        root = self.setting(item.path.parent).config.root
        shown = item.path.relative_to(root).as_posix() if item.path.is_relative_to(root) else str(path)
        return f"{shown}:{(line or 0) + 1}"

    def _refusal(self, item: pytest.Item, config: Config) -> Finding | None:
        check = self._id(item)
        if not item.path.is_relative_to(config.checks):
            title = f'is outside of the checks\' root "{config.checks_prefix}": its baseline would have no place'
            return Finding("refused", check, title, fix=f"move the test below {config.checks_prefix}/")
        argument = automatic_parameter(item)
        if argument is not None:
            title = (
                f'pytest named the parameter "{argument}" by its position: an inserted one would shift every baseline'
            )
            return Finding("refused", check, title, fix=f'@pytest.mark.parametrize("{argument}", [...], ids=[...])')
        if self._shared is None:
            self._shared = _shared_files(item.session.items, [self._id(other) for other in item.session.items])
        others = [other for other in self._shared.get(check, ()) if other != item.nodeid]
        if others:
            title = "shares its baseline's file with another check: rename one of them"
            return Finding("refused", check, title, tuple(others))
        return None


def _tests(selector: str, ids: Sequence[str], prefix: str) -> tuple[str, ...]:
    """Return the tests that a selector names; where it is the id of a named call, the test that makes the call."""
    return next((found for test in tests_of(selector) if (found := matches(test, ids, prefix))), ())


def _shared_files(items: Sequence[pytest.Item], ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return, by id, the node ids of all tests whose baselines some file system would keep in one file."""
    nodes: dict[str, list[str]] = {}
    for item, check in zip(items, ids, strict=True):
        if item.nodeid not in nodes.setdefault(check, []):
            nodes[check].append(item.nodeid)
    groups = [*collisions(ids), *((check,) for check, found in nodes.items() if len(found) > 1)]
    shared: Counter[str] = Counter(check for group in groups for check in group)
    everyone = {
        check: tuple(node for group in groups if check in group for other in group for node in nodes[other])
        for check in shared
    }
    return {check: tuple(dict.fromkeys(found)) for check, found in everyone.items()}


def _limit(item: pytest.Item) -> float:
    """Return the seconds that a test may take: its own ``timeout`` marker's, else the run's."""
    marker = item.get_closest_marker("timeout")
    own = (marker.args[0] if marker.args else marker.kwargs.get("timeout")) if marker else None
    return float(own if own is not None else item.config.getoption("timeout", None) or 0)

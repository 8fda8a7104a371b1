"""The controller's ears: a pytest plugin object that collects outcomes as they arrive from the workers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from guard.baselines.names import short_id
from guard.commands import containment
from guard.errors import MACHINE
from guard.findings import Finding, Outcome, outcome_from_json
from guard.session.seen import is_foreign

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.config import Config

# the line of a traceback that names the exception; xdist wraps a worker's in one of its own
RAISED = re.compile(r"(?:E\s+)?(?:\w+\.)*\w*(?:Error|Exception|Exit)\b: ")
COLLECTING = "worker died while importing"
# a frame of pytest's short traceback, and what SyntaxError says
PLACE = re.compile(r'(?:E\s+File ")?(?P<path>[^"]+?\.py)(?::|", line )(?P<line>\d+)')
TOLD = 4  # lines


@dataclass(eq=False)  # pytest keeps its plugins in sets
class Recorder:
    """What one pytest run reports; read it after the run."""

    config: Config
    folder: Path
    """Of the run: where workers leave what they cannot report."""
    tell: Callable[[int, int], None]
    """Told how many tests are done, of how many."""
    outcomes: list[Outcome] = field(default_factory=list)
    imports: list[Outcome] = field(default_factory=list)
    """Modules that cannot be collected."""
    died_importing: list[str] = field(default_factory=list)
    """Modules, relative to the root, whose import ends the process; the checks' root where none even starts."""
    interrupted: bool = False
    stopped: bool = False
    """Some of what was selected did not run."""
    refused: str | None = None
    """What the machine refused to pytest or to a worker: no space, no right."""
    broken: bool = False
    """pytest itself failed."""
    collected: int = 0
    _done: set[str] = field(default_factory=set)
    _nodes: list[Any] = field(default_factory=list)

    def pytest_configure_node(self, node: Any) -> None:
        """Keep workers, to end them should the run be interrupted."""
        self._nodes.append(node)

    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Learn how many tests there are."""
        del node
        self.collected = len(ids)
        self.tell(len(self._done), self.collected)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn the same where there are no workers."""
        self.collected = len(session.items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcomes of one phase of one test."""
        for data in json.loads(getattr(report, "guard_outcomes", "[]")):
            self.outcomes.append(outcome_from_json(data))
        if report.when == "teardown" or (report.nodeid not in self._done and report.when not in {"setup", "call"}):
            self._done.add(report.nodeid)
            self.tell(len(self._done), self.collected)

    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        """Write the result that a dead worker could not."""
        self.outcomes.append(containment.crash_outcome(self.config, self.folder, report.node, crashitem))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Stop where workers die before they run a test: xdist would start more that die of the same, for ever."""
        if error is None or self.interrupted or self.broken:
            return
        finding = containment.import_finding(self.config, self.folder, node)
        if finding is not None:
            self.died_importing.append(finding.check)
            self.imports.append(_import_outcome(finding))
            pytest.exit(COLLECTING)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take a module that pytest cannot collect, or that skips itself as a whole."""
        if report.failed:
            self.imports.append(_import_outcome(_collect_finding(report, self.config.root)))
        elif report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            module = short_id(report.nodeid, self.config.checks_prefix)
            self.outcomes.append(Outcome(module, report.nodeid, skipped=reason.removeprefix("Skipped: ")))

    def pytest_internalerror(self, excrepr: object) -> None:
        """Take a failure of pytest, of a plugin, or of guard's own hooks."""
        if self.broken:
            return  # what follows is xdist without workers
        self.broken = True
        lines = [line for line in str(excrepr).splitlines() if line.strip()]
        raised = [line for line in lines if RAISED.match(line)] or lines[-1:] or [""]
        number = re.search(r"Error: \[Errno (\d+)\] ", raised[-1])
        if number is not None and int(number[1]) in MACHINE:
            self.refused = raised[-1][number.end() :]
            return
        title = f"pytest ended with an internal error: {raised[-1].removeprefix('E ').strip()}"
        self.outcomes.append(Outcome("", "", (Finding("internal", "", title, tuple(lines[-20:])),)))

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """End the workers now: they may hang, and xdist would wait for each of them."""
        self.stopped = True
        if isinstance(excinfo.value, KeyboardInterrupt) and type(excinfo.value).__module__ == "builtins":
            self.interrupted = True
        if self.interrupted or self.died_importing:
            self._kill()

    def _kill(self) -> None:
        for node in self._nodes:
            process = getattr(getattr(node.gateway, "_io", None), "popen", None)
            if process is not None and process.poll() is None:
                process.kill()


def _import_outcome(finding: Finding) -> Outcome:
    return Outcome("", finding.check, (finding,))


def _collect_finding(report: pytest.CollectReport, root: Path) -> Finding:
    """Say in a line why a module does not import; the last lines of what Python says, or pytest, follow."""
    lines = [line.rstrip() for line in str(report.longrepr).splitlines() if line.strip()]
    told = [line[1:].strip() for line in lines if line.startswith("E ")]
    # what pytest itself objects to has no such lines, and begins with the point
    title, rest = (told[-1], told[:-1]) if told else ((lines or ["it does not import"])[0], lines[1:])
    where = _where(lines, root)
    return Finding("import", report.nodeid, title, (*rest[-TOLD:], *where), _import_fix(title))


def _where(lines: list[str], root: Path) -> tuple[str, ...]:
    """Return where it happened: the innermost line of the project's own, not of a library or of Python."""
    found = [Path(root, match["path"]) for line in lines if (match := PLACE.match(line))]
    numbers = [match["line"] for line in lines if (match := PLACE.match(line))]
    own = [
        f"at {path.relative_to(root).as_posix()}:{number}"
        for path, number in zip(found, numbers, strict=True)
        if path.is_relative_to(root) and not is_foreign(path)
    ]
    return tuple(own[-1:])


def _import_fix(title: str) -> str | None:
    """Return the way out of what every project meets sooner or later."""
    if re.match(r"ModuleNotFoundError: No module named 'torch'", title):
        return 'pip install "graph-guard[torch]"'
    if title.startswith("import file mismatch"):  # two modules of one name and no package around them
        return 'set addopts = "--import-mode=importlib", or put an __init__.py into each folder'
    return None

"""The pytest plugin: the fixtures, and what a worker of ``guard check`` tells its controller.

Under bare pytest it only fails tests that use the fixture; a run without it is as if the plugin were not there.
Nothing here may be slow to import: pytest loads it in every project of the environment.
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from guard.session.beside import Beside
    from guard.session.closure import Closure
    from guard.session.guard import Guard
    from guard.session.project import Project

PROJECT = pytest.StashKey["Project"]()
GUARD = pytest.StashKey["Guard"]()
CLOSURE: pytest.StashKey[Closure] = pytest.StashKey()
BESIDE = pytest.StashKey["Beside"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options; those that only ``guard check`` sets are not listed."""
    group = parser.getgroup("guard", "graph-guard")
    group.addoption("--guard-device", default="cpu", metavar="DEVICE", help="device of the guard_device fixture (cpu)")
    group.addoption(
        "--guard-fixes",
        default="on",
        choices=("on", "off"),
        help="off: capture with the installed torch's own behaviour",
    )
    group.addoption(
        "--guard-bench",
        action="store_true",
        help="run each check's graphs beside its baseline's, as rounds of pytest-benchmark",
    )
    group.addoption("--guard-run", default=None, help=argparse.SUPPRESS)  # folder of a contained run
    group.addoption("--guard-root", default=None, help=argparse.SUPPRESS)
    group.addoption("--guard-select", default="[]", help=argparse.SUPPRESS)  # selectors as JSON
    group.addoption("--guard-shard", default=None, help=argparse.SUPPRESS)  # I/N
    group.addoption("--guard-trace-cost", default="off", help=argparse.SUPPRESS)  # on, or record new ones
    group.addoption(
        "--guard-replay",
        default="on",
        choices=("on", "off"),
        help="off: do not run what was captured beside its program",
    )
    group.addoption("--guard-alarms", default="on", choices=("on", "full", "seen"), help=argparse.SUPPRESS)
    group.addoption("--guard-lenient", action="store_true", help=argparse.SUPPRESS)  # some of them may name nothing


@pytest.fixture
def guard(request: pytest.FixtureRequest) -> Iterator[Guard]:
    """Check captured graphs against their baselines: ``guard.check(program, *args, tracer=MakeFx())``."""
    found = _project(request.config).guard(request.node)
    request.node.stash[GUARD] = found
    beside: Beside | None = request.config.stash.get(BESIDE, None)
    if beside is not None:
        found.beside = beside.of(found, request)
    yield found
    found.close()


@pytest.fixture
def guard_device(request: pytest.FixtureRequest) -> str:
    """Device of this run, for the example tensors; it is no part of the check's name."""
    return str(request.config.getoption("guard_device"))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Listen in a worker of a run that is remembered; before conftests, which checks depend on, too."""
    run, root = early_config.known_args_namespace.guard_run, early_config.known_args_namespace.guard_root
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if run and worker and (Path(run) / "fresh.json").exists():
        from guard.session import closure

        early_config.stash[CLOSURE] = closure.Closure(Path(run), worker, Path(root))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the watch of a worker; last, so that pytest's faulthandler does not take its file back.

    Raises:
        pytest.UsageError: Nothing would run, and every baseline would seem to be without its check.
    """
    if config.getoption("guard_run") and config.getoption("collectonly"):
        raise pytest.UsageError('guard check runs what it collects: take "--collect-only" out of pytest\'s options')
    if config.getoption("guard_bench"):
        from guard.session.beside import Beside

        config.stash[BESIDE] = Beside(config)
        config.pluginmanager.register(config.stash[BESIDE])
    if config.getoption("guard_run"):
        config.pluginmanager.register(_Drain(config))
    if config.getoption("guard_run") and hasattr(config, "workerinput"):
        _project(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the watch."""
    _drain(config)
    if PROJECT in config.stash:
        config.stash[PROJECT].close()


class _Drain:
    """Drops what was captured before pytest gives the streams back, which it does where a run is cut short."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Drop it."""
        _drain(self._config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self) -> None:
        """Drop it."""
        _drain(self._config)


def _drain(config: pytest.Config) -> None:
    """Drop what conftests printed: pytest would hand it on when it gives the streams back."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if config.getoption("guard_run") and capture is not None and capture.is_globally_capturing():
        with suppress(AssertionError):  # the streams are back already
            capture.read_global_capture()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Keep what ``guard check`` was asked for: ids first, because ``-k`` and ``-m`` choose from them; then a shard."""
    del session
    if not config.getoption("guard_run"):
        return (yield)
    selectors, lenient = json.loads(config.getoption("guard_select")), config.getoption("guard_lenient")
    dropped = _project(config).select(items, selectors, lenient=lenient)
    result = yield
    if config.getoption("guard_shard"):
        number, _, of = config.getoption("guard_shard").partition("/")
        dropped += _project(config).share(items, int(number), int(of))
    dropped += _project(config).leave_out(items)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    return result


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave the list of checks for the controller, which collects nothing itself."""
    if session.config.getoption("guard_run") and not session.config.getoption("numprocesses", None):
        _project(session.config).leave_collection(session.items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Watch imports: a module may crash, hang or leave too."""
    if not collector.config.getoption("guard_run"):
        return (yield)
    watched = isinstance(collector, pytest.File)
    if watched:
        _project(collector.config).begin_import(collector.path, float(collector.config.getoption("timeout", None) or 0))
    try:
        return (yield)
    except (SystemExit, KeyboardInterrupt) as end:
        # a terminal's own interrupt reaches the controller too, which ends the workers
        if isinstance(end, KeyboardInterrupt) and not hasattr(collector.config, "workerinput"):
            raise
        return _project(collector.config).left(collector, end)
    finally:
        if watched:
            _project(collector.config).end(collector.nodeid)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Watch a check from its set-up to its tear-down."""
    if not item.config.getoption("guard_run"):
        return (yield)
    _project(item.config).begin(item)
    try:
        return (yield)
    finally:
        _project(item.config).end(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Note the phase."""
    if item.config.getoption("guard_run"):
        _project(item.config).enter("running")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Note the phase."""
    if item.config.getoption("guard_run"):
        _project(item.config).enter("tearing down")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the outcomes on the report, which is what travels to the controller; fail what has a finding."""
    report = yield
    found = item.stash.get(GUARD, None)
    if found is not None or item.config.getoption("guard_run"):
        _project(item.config).settle(item, call, report, found)
    return report


def _project(config: pytest.Config) -> Project:
    """Return what the tests of this process share; imported here, so that other projects pay nothing for it."""
    if PROJECT not in config.stash:
        from guard.session.project import Project

        run, root = config.getoption("guard_run"), config.getoption("guard_root")
        worker = getattr(config, "workerinput", {}).get("workerid")
        config.stash[PROJECT] = Project(
            root=Path(root) if root else None,
            run=Path(run) if run else None,
            worker=worker,
            device=config.getoption("guard_device"),
            fixes=config.getoption("guard_fixes"),
            counting=config.getoption("guard_trace_cost"),
            replaying=config.getoption("guard_replay") == "on",
            alarms=config.getoption("guard_alarms"),
            closure=config.stash.get(CLOSURE, None),
        )
    return config.stash[PROJECT]

"""``--guard-bench``: a pytest plugin that gives each call of ``guard.check`` an entry of pytest-benchmark's.

Registered only where the option is given. pytest-benchmark stays optional: nothing here imports it.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from guard.report.runs import as_rounds
from guard.session.bench import bench

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.cost.paired import Benched
    from guard.findings import Outcome
    from guard.session.guard import Guard

FIXTURE = "benchmark"
INSTALL = "pip install pytest-benchmark"


class Beside:
    """What ran in this process."""

    def __init__(self, config: pytest.Config) -> None:
        """Refuse a run in which nothing could be timed.

        Raises:
            pytest.UsageError: pytest-benchmark is absent, or the tests run in workers, where it measures nothing.
        """
        if config.getoption("guard_run"):
            raise pytest.UsageError("--guard-bench: guard check runs in workers; run: pytest checks --guard-bench")
        if config.getoption("benchmark_skip", None) is None:
            raise pytest.UsageError(f"--guard-bench: wanted pytest-benchmark, which is not loaded; {INSTALL}")
        if config.getoption("numprocesses", None) or config.getoption("dist", "no") != "no":
            raise pytest.UsageError("--guard-bench: workers of pytest-xdist disturb each other's times; add -n0")
        self._found: list[Benched] = []
        self._lent: list[pytest.Item] = []

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Let pytest-benchmark count a check as a benchmark, for ``--benchmark-only`` and ``--benchmark-skip``."""
        names = getattr(item, "fixturenames", [])
        if "guard" in names and FIXTURE not in names:
            names.append(FIXTURE)
            self._lent.append(item)

    def pytest_collection_finish(self) -> None:
        """Take that back: it is asked for where it is used, since an unused one warns."""
        for item in self._lent:
            names = getattr(item, "fixturenames", [])
            if FIXTURE in names:
                names.remove(FIXTURE)
        self._lent.clear()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a line a check."""
        if self._found:
            terminalreporter.section("guard bench")
            terminalreporter.write(as_rounds(self._found))

    def of(self, guard: Guard, request: pytest.FixtureRequest) -> Callable[[Outcome, Any], None]:
        """Return what runs each call of one test."""
        entries, config = _Entries(request), guard.setting.config

        def run(outcome: Outcome, captured: Any) -> None:
            name = outcome.check.removeprefix(guard.id)
            self._found.append(bench(config, outcome, captured, lambda: entries.entry(name)))

        return run


class _Entries:
    """Entries of one test: pytest-benchmark's fixture can be used once, a test may call ``guard.check`` more often."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        # the test's own use of the fixture is the test's: a copy, made before it, is guard's
        own = FIXTURE in request.fixturenames
        self._suffix = "#guard" if own else ""
        self._unused: Any = copy.copy(request.getfixturevalue(FIXTURE)) if own else None

    def entry(self, name: str) -> Any:
        """Return an unused fixture, whose name ends with ``name``: that of the call, none for the unnamed one."""
        if self._unused is None:
            fixture = self._request.getfixturevalue(FIXTURE)
            self._unused = copy.copy(fixture)
        else:
            fixture = copy.copy(self._unused)
        suffix = f"{self._suffix}{name}"
        fixture.name, fixture.fullname = f"{fixture.name}{suffix}", f"{fixture.fullname}{suffix}"
        fixture.extra_info = {}
        return fixture

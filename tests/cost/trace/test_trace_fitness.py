from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import pytest

from guard.cost.trace.fitness import unfit


@pytest.fixture(autouse=True)
def fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process as a worker is; the outer run may be one of pytest-cov."""
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    monkeypatch.setattr(sys, "getprofile", lambda: None)
    monkeypatch.setattr(sys, "monitoring", SimpleNamespace(get_tool=lambda _: None), raising=False)
    monkeypatch.setattr(sys, "flags", SimpleNamespace(hash_randomization=0))


def test_a_worker_is_fit() -> None:
    assert unfit() is None


def test_coverage_and_debuggers_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "gettrace", lambda: print)
    assert unfit() == "a debugger or coverage is tracing"


def test_a_profiler_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "getprofile", lambda: print)
    assert unfit() == "a profiler is running"


def test_a_tool_of_monitoring_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # what coverage is on Python 3.14
    monkeypatch.setattr(sys, "monitoring", SimpleNamespace(get_tool={1: "coverage"}.get), raising=False)
    assert unfit() == '"coverage" is using sys.monitoring'


def test_a_random_hash_seed_has_another_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "flags", SimpleNamespace(hash_randomization=1))
    assert str(unfit()).startswith("PYTHONHASHSEED is not 0")


def test_another_thread_is_not_counted() -> None:
    found: list[str | None] = []
    thread = threading.Thread(target=lambda: found.append(unfit()))
    thread.start()
    thread.join()
    assert found == ["this is not the main thread"]

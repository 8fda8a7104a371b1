"""A worker for each check, core and 2 GiB, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.commands import workers
from guard.config import Config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(tmp_path, tmp_path / "checks", tmp_path / "baselines", tmp_path / ".guard")


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "cores", lambda: 8)
    monkeypatch.setattr(workers, "memory", lambda: 12.0 * 2**30)


def test_memory_checks_and_cores_limit(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = tmp_path / "few.py", tmp_path / "many.py"
    few.write_text("def test_a(): pass\nclass TestX:\n    def test_b(self): pass\n")
    many.write_text("@pytest.mark.parametrize('x', range(99))\ndef test_a(x): pass\n")
    assert workers.count(config, None, [few], None) == 2
    assert workers.count(config, None, [many], None) == 6
    assert workers.count(config, None, [many], 1) == 1
    assert workers.count(config, None, [], None) == 1
    monkeypatch.setattr(workers, "memory", lambda: float("inf"))
    assert workers.count(config, "auto", [many], None) == 8


def test_what_was_asked_for_wins(config: Config) -> None:
    assert workers.count(config, 3, [], 1) == 3


def test_threads_are_left_to_a_user_who_set_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    found = workers.environment()
    assert "OMP_NUM_THREADS" not in found
    assert found["MKL_NUM_THREADS"] == "1"


def test_the_hash_seed_of_workers_is_zero_whatever_the_user_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1234")
    assert workers.environment()["PYTHONHASHSEED"] == "0"


def test_a_group_without_a_limit_is_infinite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    monkeypatch.setattr(workers, "GROUPS", (str(limit), str(tmp_path / "absent")))
    unlimited = workers.memory()
    limit.write_text("1048576\n")
    assert workers.memory() == 1048576.0
    assert unlimited > 1048576.0

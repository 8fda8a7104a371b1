"""Counting is told what was accepted, so that one capture may be enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.baselines.costs import dump
from guard.baselines.section import Section
from guard.baselines.store import Store
from guard.config import load
from guard.session.asked import Asked
from guard.session.setting import Setting
from guard.session.trace import count

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\n")
    (tmp_path / "checks").mkdir()
    return Setting(load(tmp_path), counting="on")


def told(setting: Setting) -> tuple[int, ...]:
    seen: list[tuple[int, ...]] = []

    def take(_: Asked, known: tuple[int, ...]) -> str:
        seen.append(known)
        return "not counted"

    assert count(setting, "it::one", Asked(), take, 0.0) == "not counted"
    return seen[0]


def accepted(setting: Setting, data: bytes) -> None:
    path = Store(setting.config).cost_path("it::one")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_counts_of_all_environments_are_told(setting: Setting) -> None:
    assert told(setting) == ()
    accepted(setting, dump("it::one", {"torch a": Section(1000, 0.01), "torch b": Section(1100, 0.01)}))
    assert told(setting) == (1000, 1100)


def test_a_file_that_does_not_read_tells_nothing(setting: Setting) -> None:
    accepted(setting, b"{}")
    assert told(setting) == ()

"""``guard doctor`` says what is installed and how each fix stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from guard.commands import doctor as module
from guard.commands.doctor import FixRow, doctor
from guard.commands.options import DoctorOptions
from guard.environment import Environment, torch_problem

if TYPE_CHECKING:
    from pathlib import Path

MENDED = FixRow("nested-isolation", "applied", "pytorch#93290", "a symptom", "a promise")
NATIVE = FixRow("proxy-preservation", "native", "pytorch#170467", "torch does this right by itself", "another")
BROKEN = FixRow("proxy-preservation", "cannot", "pytorch#170467", "ImportError: it moved", "another")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "checks").mkdir()
    monkeypatch.chdir(tmp_path)


def with_rows(monkeypatch: pytest.MonkeyPatch, *rows: FixRow) -> None:
    monkeypatch.setattr(module, "_rows", lambda _: rows)


def with_torch(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(module, "current", lambda: Environment(version, "3.11", "linux-x86_64", "cpu"))


def test_real_table_is_cached_in_the_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(DoctorOptions("json")) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["schema"] == 1
    assert record["problem"] is None
    assert {fix["name"]: fix["state"] in ("native", "applied") for fix in record["fixes"]} == {
        "nested-isolation": True,
        "proxy-preservation": True,
    }
    assert list((tmp_path / ".guard" / "cache").glob("fixes-*.json"))
    assert record["environment"]["counter"].startswith("calls by sys.")


def test_text_names_the_environment_and_each_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rows(monkeypatch, MENDED, NATIVE)
    with_torch(monkeypatch, "2.13.0+cpu")
    assert doctor(DoctorOptions()) == 0
    out = capsys.readouterr().out
    assert "torch     2.13.0+cpu\n" in out
    assert "nested-isolation: applied (pytorch#93290)\n  promised: a promise\n  seen:     a symptom\n" in out
    assert "proxy-preservation: native (pytorch#170467)\n" in out


@pytest.mark.parametrize(
    ("pmu", "counter", "said"),
    [
        (False, None, "the kernel knows no hardware counter"),
        (True, None, "the hardware counter does not work"),
        (True, object(), ", and instructions"),
    ],
)
def test_whether_instructions_are_counted_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, pmu: bool, counter: object, said: str
) -> None:
    with_rows(monkeypatch, NATIVE)
    monkeypatch.setattr(module, "has_pmu", lambda: pmu)
    monkeypatch.setattr("guard.cost.trace.instructions.available", lambda: counter)
    assert doctor(DoctorOptions()) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("counter"))
    assert line.endswith(said)


def test_fix_that_cannot_be_given_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_rows(monkeypatch, MENDED, BROKEN)
    assert doctor(DoctorOptions()) == 1
    assert "proxy-preservation: cannot (pytorch#170467)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "problem"),
    [("absent", "torch is not installed"), ("2.8.1+cu126", "torch 2.8.1+cu126 is too old: wanted 2.9 or newer")],
)
def test_torch_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: str, problem: str
) -> None:
    with_torch(monkeypatch, version)
    assert doctor(DoctorOptions()) == 2
    assert capsys.readouterr().err == f'error: {problem}\n  pip install "graph-guard[torch]"\n'
    assert doctor(DoctorOptions("json")) == 2
    assert json.loads(capsys.readouterr().out)["problem"] == problem


@pytest.mark.parametrize("version", ["2.9.0", "2.10.0a0+git123", "2.14.1", "3.0", "main"])
def test_torch_that_can_be_used(version: str) -> None:
    assert torch_problem(version) is None


def test_outside_of_a_project_it_works_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checks").rmdir()
    with_rows(monkeypatch, NATIVE)
    assert doctor(DoctorOptions()) == 0
    assert "workers" not in capsys.readouterr().out

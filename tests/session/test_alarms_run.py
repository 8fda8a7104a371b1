"""What a run makes of alarms: told where a baseline is due, in every run, or a finding; accept and show tell them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.project import empty_project

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = """
def sound(): return ["aten.sin.default"]
def unused(): return ["unused", "aten.{name}.default"]
def test_noted(guard): guard.check(unused, tracer=None)
def test_warned(guard): guard.check(unused, tracer=None, alarms="warn")
def test_failed(guard): guard.check(unused, tracer=None, alarms="fail")
def test_sound(guard): guard.check(sound, tracer=None, alarms="fail")
"""
ALARM = "unused-input: %y: no output or write depends on it"


def test_an_alarm_is_told_by_policy(tmp_path: Path) -> None:
    project = empty_project(tmp_path / "project")
    project.checks(CHECKS.format(name="sin"))

    first = project.guard("update")
    assert f'note: "it::noted" - alarm, {ALARM}' in first.stdout
    assert f'note: "it::warned" - alarm, {ALARM}' in first.stdout
    assert f'alarm: "it::failed" - {ALARM}' in first.stdout
    assert 'accepted: "it::failed"' not in first.stdout
    assert "it::sound" not in first.stdout.partition("accepted")[0]
    accepted = project.guard("accept", "it::failed")
    assert f'note: "it::failed" - alarm, {ALARM}' in accepted.stderr

    # recorded: a note is told no more, a warning is, and a failure fails
    again = project.guard("check")
    assert again.returncode == 1
    assert '"it::noted"' not in again.stdout
    assert f'note: "it::warned" - alarm, {ALARM}' in again.stdout
    assert f'alarm: "it::failed" - {ALARM}' in again.stdout

    # a drift that keeps the alarm brings no new one
    project.checks(CHECKS.format(name="cos"))
    moved = project.guard("check", "it::noted")
    assert 'drift: "it::noted"' in moved.stdout
    assert "alarm" not in moved.stdout

    shown = project.guard("show", "it::noted")
    assert "  # unused-input: %y: no output or write depends on it" in shown.stdout
    assert project.guard("show", "it::noted", "--alarms").stdout == f"alarm, {ALARM}\n"
    assert "#" not in project.guard("show", "it::sound").stdout

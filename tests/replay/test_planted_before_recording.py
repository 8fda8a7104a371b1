"""A tracer that is wrong on the day: ``guard update`` says what is wrong, and records nothing of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.project import empty_project

if TYPE_CHECKING:
    from pathlib import Path

CONFTEST = """
from guard.specs import MakeFx
from tests.replay.faults import plant_in_tracer

plant_in_tracer(MakeFx, lambda program: getattr(program, "fault", None))
"""
CHECKS = """
import pytest
import torch
from guard import MakeFx

def swapped(x, y):
    return x - y

def dropped(x, y):
    x.copy_(y)
    return y * 2

def baked(x, y):
    return x - y

def frozen(x, y):
    return x.sum(0) / x.shape[0] - y.sum(0)

@pytest.mark.parametrize("name", ["swapped", "dropped", "baked", "frozen"])
def test_planted(guard, name):
    program = globals()[name]
    program.fault = name
    x, y = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
    guard.check(program, x, y, tracer=MakeFx("symbolic" if name == "frozen" else "real"))
"""
WANTED = {
    "swapped": ("output 0 differs from eager on the example inputs", "[0, 0]: wanted -1.0, got 1.0"),
    "dropped": ('input "x" after forward differs from eager on the example inputs', "[0, 0]: wanted 1.0, got 0.0"),
    "baked": ("output 0 differs from eager on fresh inputs", "[0, 0]: wanted "),
    "frozen": ("output 0 differs from eager on inputs of a second size", "[0]: wanted "),
}


def test_planted_before_recording(tmp_path: Path) -> None:
    project = empty_project(tmp_path)
    project.write("checks/conftest.py", CONFTEST)
    project.checks(CHECKS)
    ran = project.guard("update", "--no-trace-cost")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    for name, (title, line) in WANTED.items():
        assert f'unfaithful: "it::planted[{name}]" - {title}\n  {line}' in ran.stdout
        assert f'"it::planted[{name}]" was not recorded: the graph is unfaithful, {title}' in ran.stderr
    assert not list(tmp_path.glob("baselines/**/*.graph"))
    assert len(project.pending()) == len(WANTED)
    assert project.guard("accept", "--all").returncode == 2
    assert not list(tmp_path.glob("baselines/**/*.graph"))

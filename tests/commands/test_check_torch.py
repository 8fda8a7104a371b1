"""The whole way once with the real tracer: record, hold, drift with the user's line, accept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.project import Project

pytest.importorskip("torch")

CHECKS = """
import torch
from guard import MakeFx

def program(x):
    y = x.sin()
    return y.cos() + 1

def test_program(guard):
    capture = guard.check(program, torch.ones(4), tracer=MakeFx())
    assert capture.graph("main").count("aten.sin.default") == 1

def test_linear(guard):
    guard.check(torch.nn.Linear(4, 4), torch.ones(2, 4), tracer=MakeFx())

def test_mesh(guard):
    assert guard.mesh((2, 4), names=("dp", "tp")).shape == (2, 4)
    guard.check_graph(torch.fx.symbolic_trace(program))
"""


def test_record_hold_drift_accept(project: Project) -> None:
    (project.root / "checks" / "conftest.py").unlink()
    project.checks(CHECKS)
    updated = project.guard("update")
    assert updated.returncode == 0, updated.stdout + updated.stderr
    project.environment = {"PYTHONWARNINGS": "error::UserWarning", "PYTHONHASHSEED": "7"}
    held = json.loads(project.guard("check", "--format", "json").stdout)
    assert held["counts"] == {"holds": 3}, held
    project.checks(CHECKS.replace("y.cos()", "y.tan()"))
    drifted = project.guard("check", "it::program")
    assert drifted.returncode == 1
    assert 'drift: "it::program" - structure, cos -> tan' in drifted.stdout
    line = next(line for line in drifted.stdout.splitlines() if "aten.tan.default" in line)
    assert line.startswith("  + %1: f32[4] = aten.tan.default(%0) ")
    assert line.endswith(" checks/test_it.py:6")
    assert project.guard("accept", "it::program").returncode == 0
    baseline = (project.root / "baselines/it/program.graph").read_text()
    assert "aten.tan.default" in baseline

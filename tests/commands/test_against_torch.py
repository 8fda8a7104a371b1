"""``guard check --against REF`` once with the real tracer, on a library that has no baselines at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.repository import repository

if TYPE_CHECKING:
    from tests.project import Project

pytest.importorskip("torch")

MODEL = """
def step(x):
    return x.sin().cos()
"""
CHECKS = """
import torch
from guard import MakeFx
from model import step

def test_step(guard): guard.check(step, torch.ones(4), tracer=MakeFx(tracing_mode="symbolic"))
def test_other(guard): guard.check(lambda x: x + 1, torch.ones(4), tracer=MakeFx())
"""


def test_who_moved_a_real_graph(project: Project) -> None:
    project.write("pyproject.toml", '[tool.guard]\nworkers = 1\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n')
    project.write(".gitignore", "__pycache__/\n.guard/\n.pytest_cache/\n")
    (project.root / "checks/conftest.py").unlink()
    project.checks(CHECKS)
    project.write("model.py", MODEL)
    git = repository(project.root)
    git.commit()
    project.write("model.py", MODEL.replace("cos", "tan"))
    ran = project.guard("check", "--against", "main", "--format", "json")
    found = json.loads(ran.stdout)
    assert (found["counts"], ran.returncode) == ({"holds": 1, "drift": 1}, 1), ran.stdout + ran.stderr
    (finding,) = (finding for outcome in found["outcomes"] for finding in outcome["findings"])
    assert (finding["check"], finding["by"], finding["drift"]) == ("it::step", "code", "structure")
    assert git.git("worktree", "list").count("\n") == 1

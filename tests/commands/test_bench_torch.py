"""guard check and guard bench with the real tracer: what a reviewer of a drift asks, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.project import Project

pytest.importorskip("torch")

CHECKS = """
import torch
from guard import MakeFx

TABLE = torch.linspace(0, 1, 128)

def add(x, y):
    return x + y

def sub(x, y):
    return x - y

def table(x):
    return x * TABLE

def row(x):
    x.clone()[0] += 1
    return x.sum()

def clone(x, w):
    return (x @ w.clone()).relu()

def run(guard, program, *shapes):
    guard.check(program, *(torch.ones(shape) for shape in shapes), tracer=MakeFx())

def test_add(guard):
    run(guard, add, 4, 4)

def test_sub(guard):
    run(guard, sub, 4, 4)

def test_table(guard):
    run(guard, table, 128)

def test_row(guard):
    run(guard, row, (4, 4))

def test_clone(guard):
    run(guard, clone, (4, 64), (64, 64))
"""
EDITED = (
    CHECKS.replace("return x + y", "return y + x")
    .replace("return x - y", "return y - x")
    .replace("x * TABLE", "TABLE * x")
    .replace("x.clone()[0] += 1", "x[0] += 1")
    .replace("w.clone()", "w")
)


@pytest.mark.prove
def test_what_a_reviewer_of_a_drift_asks(project: Project) -> None:
    (project.root / "checks" / "conftest.py").unlink()
    project.checks(CHECKS)
    assert project.guard("update").returncode == 0
    project.checks(EDITED)

    checked = project.guard("check").stdout
    done = project.guard("bench", "--quads", "1")

    assert "bytes rewritten in inputs +32" in checked  # a row is written twice: add_, and Python's own x[0] = x[0]
    assert "note: cheaper: bytes read -16,384, bytes written -16,384, peak live bytes -" in checked
    said = done.stdout.splitlines()
    assert any(line.startswith('"it::add": structure drift, same values, ') for line in said), done.stdout
    assert any(line.startswith('"it::table": structure drift, same values, ') for line in said)
    assert any(line.startswith('"it::clone": structure drift, same values, ') for line in said)
    place = next(
        index for index, line in enumerate(said) if line.startswith('"it::sub": structure drift, values differ')
    )
    assert said[place + 1].startswith("  output 0 [0]: wanted ")
    assert done.returncode == 0
    assert len(list((project.root / ".guard" / "constants").iterdir())) == 1
    assert project.guard("accept", "--all").returncode == 0
    assert not (project.root / ".guard" / "constants").exists()

"""``guard check`` where nothing moved, beside an empty interpreter and ``import torch``: CPU time, in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING

import pytest

from tests.project import Project, empty_project

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS, TORCH_ROUNDS = 15, 5
EMPTY = 6.0
TORCH = 1 / 25
CHECKED = "1 unchanged since it last held"


def cpu(project: Project, *command: str) -> float:
    """User and system seconds of one process."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=project.root,
        env=project._environment(),  # noqa: SLF001 - the same as what recorded it had
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime


@pytest.fixture
def held(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    """A project of one check that imports as many files as asked."""
    made = empty_project(tmp_path / "project")
    for number in range(request.param):
        made.write(f"checks/helpers/h{number}.py", "")
    imports = "\n".join(f"import helpers.h{number}" for number in range(request.param))
    made.checks(f"{imports}\ndef test_one(guard): guard.check(lambda: ['aten.sin.default'], tracer=None)\n")
    assert made.guard("update").returncode == 0
    made.guard("check")
    assert made.guard("check").stdout.startswith(CHECKED)
    return made


@pytest.mark.parametrize("held", [200, 2000], ids="{}-files".format, indirect=True)
def test_nothing_moved(held: Project, capsys: pytest.CaptureFixture[str]) -> None:
    cpu(held, "-c", "import torch")  # the first run reads the disk
    rounds = [(cpu(held, "-m", "guard", "check"), cpu(held, "-c", "pass")) for _ in range(ROUNDS)]
    empty = median(check / nothing for check, nothing in rounds)
    torch = median(cpu(held, "-m", "guard", "check") / cpu(held, "-c", "import torch") for _ in range(TORCH_ROUNDS))
    mine = median(check for check, _ in rounds)
    with capsys.disabled():
        told = f"{mine * 1e3:.0f} ms, {empty:.2f}x of python -c pass, 1/{1 / torch:.0f} of import torch"
        sys.stdout.write(f"\nguard check: {told}\n")
    assert empty <= EMPTY
    assert torch <= TORCH

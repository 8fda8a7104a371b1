"""The start of a command against an empty interpreter: CPU time of whole processes, run in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median

import pytest

MOST = 4.0
ROUNDS = 15


def cpu(*command: str) -> float:
    """User and system seconds of one process."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize(
    "command", [("-c", "import guard"), ("-m", "guard", "--help")], ids=["import-guard", "guard-help"]
)
def test_start(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    cpu(*command)  # the first run writes byte code
    ratio = median(cpu(*command) / cpu("-c", "pass") for _ in range(ROUNDS))
    with capsys.disabled():
        sys.stdout.write(f"\n{' '.join(command)}: {ratio:.2f}x of python -c pass\n")

    assert ratio <= MOST

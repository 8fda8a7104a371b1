"""Replay beside tracing, over the project's own checks: CPU seconds of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parent.parent
CHILD = Path(__file__).with_name("replay_child.py")
# Measured 0.46 to 0.49 of all tracing, and 0.58 to 0.62 of the first captures alone: most of these programs trace by
# themselves, so that running one is tracing, and a replay runs it on two sets of inputs
MOST = 0.6


def test_replay_beside_tracing(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, str(CHILD), "checks"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=600)
    spent = json.loads(ran.stdout.splitlines()[-1])
    assert spent["code"] == 0, ran.stdout[-2000:]
    traced = spent["capture"] + spent["without fixes"]
    with capsys.disabled():
        once, all_ = spent["replay"] / spent["capture"], spent["replay"] / traced
        print(f"\nreplay {spent['replay']:.1f} s: {all_:.2f}x of tracing, {once:.2f}x of the first captures")  # noqa: T201 - the figure
    assert spent["replay"] <= MOST * traced

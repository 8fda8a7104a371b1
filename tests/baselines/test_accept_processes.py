"""Two accepts at once, and accepts that are killed: the store holds whole files of before or of after, never others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from guard.baselines.disk import TEMPORARY, write_whole
from guard.baselines.meta import Meta
from guard.baselines.pending import all_pending, digest, write_pending
from guard.baselines.store import Store

if TYPE_CHECKING:
    from guard.config import Config

ROOT = Path(__file__).resolve().parents[2]
CHECKS = tuple(f"a{number % 3}::b{number}" for number in range(40))
LINE = "  %{0}: f32[4] = aten.neg.default(%a)\n"


def text(check: str, nodes: int) -> str:
    body = "".join(LINE.format(number) for number in range(nodes))
    head = f"guard-graph 1\ncheck {check}\ntracer make_fx(tracing_mode=real)\n\ngraph main(%a: f32[4]) -> (f32[4]) {{\n"
    return f"{head}{body}  return %0\n}}\n"


def prepare(config: Config) -> None:
    """Record each check with 1 node, and leave 200 nodes pending."""
    for check in CHECKS:
        before = text(check, 1).encode()
        write_whole(Store(config).path(check), before)
        write_pending(config, check, text(check, 200), Meta(torch="2.13.0", baseline=digest(before)))


def start(config: Config) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "guard", "accept", "--all"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=config.root, env=environment, stdout=pipe, stderr=pipe, text=True)


def settled(config: Config) -> int:
    """Count the new files; every file is whole."""
    found = [Store(config).read(check) for check in CHECKS]
    wanted = [(text(check, 1).encode(), text(check, 200).encode()) for check in CHECKS]
    assert all(data in pair for data, pair in zip(found, wanted, strict=True))
    return sum(data == pair[1] for data, pair in zip(found, wanted, strict=True))


def test_two_at_once_take_turns(config: Config) -> None:
    prepare(config)
    both = [start(config), start(config)]
    outputs = [process.communicate(timeout=60) for process in both]
    assert 0 in [process.returncode for process in both]
    assert settled(config) == len(CHECKS)
    assert all_pending(config) == ()
    accepted = [line for out, _ in outputs for line in out.splitlines() if line.startswith("accepted: ")]
    assert len(accepted) == len(set(accepted)) == len(CHECKS)
    assert not any("Traceback" in error for _, error in outputs)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="SIGKILL is POSIX's")
def test_a_kill_at_any_moment_leaves_whole_files(config: Config) -> None:
    prepare(config)
    partly = 0
    for delay in (0.0, 0.004, 0.008, 0.012, 0.016, 0.02):
        process = start(config)
        first = Store(config).path(CHECKS[0])
        before = first.stat().st_ino
        deadline = time.monotonic() + 30
        while first.stat().st_ino == before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(delay)
        process.kill()
        process.communicate(timeout=60)
        partly += 0 < settled(config) < len(CHECKS)
        prepare(config)
    assert partly > 0, "no kill fell between the first write and the last: the test shows nothing"

    last = start(config)
    last.communicate(timeout=60)
    assert last.returncode == 0
    assert settled(config) == len(CHECKS)
    assert all_pending(config) == ()
    assert not list(config.baselines.rglob(f"{TEMPORARY}*"))

"""Starts the process that measures one pair, and reads what it left. It may crash; guard does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import guard
from guard.cost.paired import Paired, from_json

# the folder that it runs in holds nothing that could be imported
_BOOT = (
    "import json, sys; given = json.load(sys.stdin); sys.path.insert(0, given['home']); "
    "from guard.commands.bench_child import main; main(given)"
)


def measure(
    baseline: bytes, current: bytes, quads: int, timeout: float, constants: Path | None = None
) -> tuple[Paired, ...] | str:
    """Run a pair in a fresh process; text is why there is no result.

    Args:
        baseline: the file, which has been parsed.
        current: what waits, which has been parsed.
        quads: ABBA quads a graph.
        timeout: seconds, 0 for no limit.
        constants: folder of the bytes of current's; None where none were kept.
    """
    with tempfile.TemporaryDirectory(prefix="guard-bench-") as folder:
        answer = Path(folder) / "answer.json"
        given = {
            "home": str(Path(guard.__file__).parents[1]),
            "baseline": baseline.decode("utf-8-sig"),
            "current": current.decode("utf-8-sig"),
            "quads": quads,
            "constants": str(constants or folder),
            "answer": str(answer),
        }
        problem = _run(json.dumps(given), folder, timeout)
        if problem is not None:
            return problem
        return tuple(from_json(record) for record in json.loads(answer.read_bytes()))


def _run(given: str, folder: str, timeout: float) -> str | None:
    # the same hash seed: the order of sets is none of the difference between two processes
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-c", _BOOT],
            input=given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            timeout=timeout or None,
            check=False,
            encoding="utf-8",
            errors="backslashreplace",
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {timeout:g} s"
    if done.returncode < 0:
        memory = ", as where memory runs out" if done.returncode == -9 else ""  # noqa: PLR2004 - SIGKILL
        return f"the process that ran it was ended by signal {-done.returncode}{memory}"
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return f"the process that ran it failed: {last[:200]}"
    return None

"""Starts one process of ``guard selftest --aa``, and reads what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import guard
from guard.commands import workers
from guard.errors import GuardError

_BOOT = (
    "import json, sys; given = json.load(sys.stdin); sys.path.insert(0, given['home']); "
    "from guard.commands.aa_child import main; main(given)"
)


def run(seed: int, cache: Path | None) -> dict[str, Any]:
    """Capture and count the corpus in a fresh process, in an order of the seed's.

    Raises:
        GuardError: it failed, or could not count.
    """
    with tempfile.TemporaryDirectory(prefix="guard-aa-") as folder:
        answer = Path(folder) / "answer.json"
        home = str(Path(guard.__file__).parents[1])
        given = {
            "home": home,
            "seed": seed,
            "cache": None if cache is None else str(cache.absolute()),
            "answer": str(answer),
        }
        done = subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-c", _BOOT],
            input=json.dumps(given),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, **workers.environment(), "PYTHONWARNINGS": "ignore"},
            check=False,
            encoding="utf-8",
            errors="backslashreplace",
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise GuardError(f"a process of selftest --aa failed: {last[:200]}")
        found: dict[str, Any] = json.loads(answer.read_bytes())
    problem = next((one["problem"] for one in found["captures"].values() if "problem" in one), None)
    if problem is not None:
        raise GuardError(f"calls cannot be counted here: {problem}")
    return found

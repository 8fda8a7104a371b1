"""A fresh process of guard's own that takes JSON and leaves JSON. It may crash; guard does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import guard

if TYPE_CHECKING:
    from collections.abc import Mapping


class EndedError(Exception):
    """It left no answer; the text is how it ended, to stand behind a word for the process."""


def boot(module: str) -> str:
    """Return the code that runs ``main`` of a module of guard's: of this guard, whatever else is installed."""
    return (
        "import json, sys; given = json.load(sys.stdin); sys.path.insert(0, given['home']); "
        f"from {module} import main; main(given)"
    )


def ask(code: str, given: Mapping[str, Any], environment: Mapping[str, str], timeout: float = 0) -> Any:
    """Run code in a fresh process and return what it wrote to the path ``answer``.

    Args:
        code: as boot gives it; it runs in a folder that holds nothing that could be imported.
        given: on its stdin, with ``home`` (where guard is) and ``answer``.
        environment: variables beside this process's.
        timeout: seconds, 0 for no limit.

    Raises:
        EndedError: it failed, was ended, or did not end.
    """
    with tempfile.TemporaryDirectory(prefix="guard-child-") as folder:
        answer = Path(folder) / "answer.json"
        told = {**given, "home": str(Path(guard.__file__).parents[1]), "answer": str(answer)}
        _run(code, json.dumps(told), folder, {**os.environ, **environment}, timeout)
        return json.loads(answer.read_bytes())


def _run(code: str, told: str, folder: str, environment: Mapping[str, str], timeout: float) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-c", code],
            input=told,
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
        raise EndedError(f"did not end within {timeout:g} s") from None
    if done.returncode < 0:
        memory = ", as where memory runs out" if done.returncode == -9 else ""  # noqa: PLR2004 - SIGKILL
        raise EndedError(f"was ended by signal {-done.returncode}{memory}")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise EndedError(f"failed: {last[:200]}")

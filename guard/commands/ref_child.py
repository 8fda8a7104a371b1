"""The process that traces another commit's checks: ref_side starts it and reads the file that it leaves."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

from guard.commands.options import CheckOptions
from guard.commands.ref_witness import LEAKS, TOP, TREE
from guard.commands.run import run_checks
from guard.config import load
from guard.errors import GuardError
from guard.findings import outcome_to_json


def main(given: dict[str, Any]) -> None:
    """Run the checks of the working directory's project and write what came of it."""
    os.environ.update({TOP: given["top"], TREE: given["tree"], LEAKS: given["leaks"]})
    threading.Thread(target=_end_with_parent, args=(os.dup(0),), daemon=True).start()
    options = given["options"]
    chosen = {name: tuple(options[name]) for name in ("ids", "pytest_args")}
    witness = ("-p", "guard.commands.ref_witness")
    made = CheckOptions(**{**options, **chosen, "pytest_args": (*chosen["pytest_args"], *witness)})
    try:
        run = run_checks(load(), made)
    except GuardError as error:
        answer: dict[str, Any] = {"problem": error.problem, "tip": error.tip}
    else:
        outcomes = [outcome_to_json(outcome) for outcome in run.outcomes]
        answer = {"outcomes": outcomes, "interrupted": run.interrupted}
    Path(given["answer"]).write_text(json.dumps(answer), encoding="ascii")


def _end_with_parent(pipe: int) -> None:
    """End this process and its workers when the other end of its stdin is closed; pytest takes stdin itself away."""
    os.read(pipe, 1)
    if os.name == "posix":
        os.killpg(os.getpgrp(), signal.SIGKILL)  # it leads a session of its own
    os._exit(1)

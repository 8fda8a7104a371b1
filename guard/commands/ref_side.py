"""Trace another commit's checks in a process of its own: its code and settings, the installed torch, this guard."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import guard
from guard.baselines.names import SUFFIX
from guard.baselines.pending import Pending, read_pending
from guard.commands.import_path import is_project, mapped
from guard.config import load
from guard.errors import GuardError, UsageError
from guard.findings import Outcome, outcome_from_json

if TYPE_CHECKING:
    from guard.baselines.history import Repository
    from guard.commands.options import CheckOptions
    from guard.config import Config

PACKAGE = Path(guard.__file__).resolve().parent
# guard is loaded before the project's path is set: the project may be guard itself, or keep a copy of it
_BOOT = (
    "import json, os, sys; given = json.loads(sys.stdin.readline()); sys.path.insert(0, given['home']); import guard; "
    "sys.path[:] = given['path']; os.chdir(given['root']); from guard.commands.ref_child import main; main(given)"
)


class RefSide(NamedTuple):
    """What a commit's checks captured."""

    captures: dict[str, bytes]
    """Check -> text."""
    outcomes: tuple[Outcome, ...]


def trace(config: Config, options: CheckOptions, repository: Repository, tree: Path) -> RefSide:
    """Run a commit's checks with its baselines taken away, so that each leaves what it captured.

    Args:
        config: of the user's project.
        options: which checks, and how; names that the commit does not have are left out.
        repository: the user's.
        tree: the commit's files, which are ours to change.

    Raises:
        GuardError: The project is not there, or its checks imported the user's files of today.
    """
    there = _config(tree / repository.prefix, tree)
    if there is None or not there.checks.is_dir():
        return RefSide({}, ())
    for path in there.baselines.rglob(f"*{SUFFIX}"):
        path.unlink()
    with suppress(OSError):  # the answers of the probes, which cost seconds
        shutil.copytree(config.state / "cache", there.state / "cache")
    answer = _ask(there, options, repository.top.resolve(), tree)
    if "problem" in answer:
        raise UsageError(f"its checks do not run there: {answer['problem']}", answer["tip"])
    outcomes = tuple(outcome_from_json(outcome) for outcome in answer["outcomes"])
    if answer["interrupted"]:
        raise KeyboardInterrupt
    _refuse_leaks(answer["leaks"], repository.top)
    return RefSide(_captures(there, outcomes), outcomes)


def _config(root: Path, tree: Path) -> Config | None:
    """Read the commit's own configuration; None where the project, or its folder, is not there."""
    if not root.is_dir():
        return None
    try:
        found = load(root)
    except UsageError as error:
        if error.problem.startswith("no project in"):
            return None
        raise
    return found if found.root.is_relative_to(tree) else None


def _ask(there: Config, options: CheckOptions, top: Path, tree: Path) -> dict[str, Any]:
    folder = tree.parent
    home = _home(folder, top, tree)
    paths = [*([str(home)] if home != PACKAGE.parent else []), *mapped(sys.path, top, tree)]
    given = {
        "home": str(home),
        "path": paths,
        "root": str(there.root),
        "answer": str(folder / "answer.json"),
        "leaks": str(folder / "leaks"),
        "top": str(top),
        "tree": str(tree),
        "options": asdict(replace(options, against=None, junitxml=None, trace_cost="off")),
    }
    _run(json.dumps(given).encode(), folder, {**os.environ, "PYTHONPATH": os.pathsep.join(_variable(paths, top, tree))})
    try:
        answer: dict[str, Any] = json.loads((folder / "answer.json").read_bytes())
    except (OSError, ValueError):
        raise GuardError("the process that traced it ended without a result") from None
    leaks = (folder / "leaks").read_text("utf-8").splitlines() if (folder / "leaks").exists() else []
    return {**answer, "leaks": sorted(set(leaks))}


def _home(folder: Path, top: Path, tree: Path) -> Path:
    """Return where guard is imported from: a copy where its folder holds the project's modules, too."""
    parent = PACKAGE.parent
    if not is_project(parent, top) or not (tree / parent.relative_to(top)).is_dir():
        return parent
    home = folder / "home"
    shutil.copytree(PACKAGE, home / PACKAGE.name)
    return home


def _variable(paths: list[str], top: Path, tree: Path) -> list[str]:
    """Return PYTHONPATH for what the checks start themselves: what it was, and what was led to the tree."""
    given = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    ours = [path for path in paths if Path(path).is_relative_to(tree.parent)]
    return list(dict.fromkeys([*ours, *mapped(given, top, tree)])) if given or ours else []


def _run(data: bytes, folder: Path, environment: dict[str, str]) -> None:
    """Run the child to its end; all of its processes are gone when this returns or raises.

    Its stdin stays open as long as this process lives: where that is killed, the child ends itself.
    """
    own = os.name == "posix"
    command = [sys.executable, "-c", _BOOT]
    # the folder holds nothing that could be imported
    process = subprocess.Popen(  # noqa: S603 - this Python
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=folder, env=environment, start_new_session=own
    )
    assert process.stdin is not None  # noqa: S101 - for the type checker: it is a pipe
    try:
        with suppress(BrokenPipeError):  # it has died already, and its answer is missed below
            process.stdin.write(data + b"\n")
            process.stdin.flush()
        process.wait()
    finally:
        with suppress(OSError):
            process.stdin.close()
        with suppress(OSError):
            if own:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def _refuse_leaks(leaks: list[str], top: Path) -> None:
    if leaks:
        raise UsageError(
            f'its checks imported "{leaks[0]}" of "{top}", not of the commit: nothing is settled',
            "put the project's folder on the path (PYTHONPATH, or pytest's pythonpath) instead of installing it",
        )


def _captures(there: Config, outcomes: tuple[Outcome, ...]) -> dict[str, bytes]:
    found = {outcome.check: read_pending(there, outcome.check) for outcome in outcomes if outcome.pending}
    return {
        check: pending.text
        for check, pending in found.items()
        if isinstance(pending, Pending) and pending.text is not None
    }

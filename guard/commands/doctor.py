"""``guard doctor``: what this torch is, and which of its defects guard mends while it traces."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import guard
from guard import verdict
from guard.commands import workers
from guard.config import load
from guard.cost.pmu import has_pmu
from guard.environment import INSTALL, current, torch_problem
from guard.errors import TorchMissingError, UsageError
from guard.report.json import dump

if TYPE_CHECKING:
    from guard.commands.options import DoctorOptions
    from guard.config import Config


@dataclass(frozen=True)
class FixRow:
    """One fix. Its fields are the keys of the JSON."""

    name: str
    state: Literal["native", "applied", "cannot"]
    """torch does it right, guard mends it, or neither: then no baseline can be trusted."""
    cause: str
    """Public number of the defect."""
    evidence: str
    what: str


def doctor(options: DoctorOptions) -> int:
    """Print the environment and the table of fixes; 0, 1 where a fix cannot be given, 2 where torch cannot be used.

    Outside of a project it works too, with nothing cached.
    """
    config = _config()
    facts = _facts(config)
    problem = torch_problem(facts["torch"])
    rows = () if problem else _rows(config)
    if not problem:
        facts["counter"] = _counter()
    if options.format == "json":
        print(dump({"environment": facts, "problem": problem, "fixes": [asdict(row) for row in rows]}), end="")
    else:
        print(_text(facts, rows), end="", flush=True)
        if problem:
            error = TorchMissingError(problem, INSTALL)
            print(f"error: {error}", file=sys.stderr)
    return verdict.USAGE if problem else _exit_code(rows)


def _config() -> Config | None:
    try:
        return load()
    except UsageError:
        return None


def _facts(config: Config | None) -> dict[str, str]:
    facts = {"guard": guard.__version__, **current().as_dict()}
    if config is not None:
        facts["workers"] = str(workers.count(config, None, (), workers.MANY))
    return facts


def _counter() -> str:
    """Say how a trace's calls are counted, and whether instructions are, too; torch is asked only where they may be."""
    calls = "calls by sys.monitoring" if hasattr(sys, "monitoring") else "calls by sys.setprofile"
    if not has_pmu():
        return f"{calls}; no instructions: the kernel knows no hardware counter"
    from guard.cost.trace.instructions import available

    works = available() is not None
    return f"{calls}, and instructions" if works else f"{calls}; no instructions: the hardware counter does not work"


def _rows(config: Config | None) -> tuple[FixRow, ...]:
    from guard.tracers.fixes import table

    states = table(None if config is None else config.state / "cache")
    return tuple(FixRow(state.name, state.state, state.cause, state.evidence, state.what) for state in states)


def _exit_code(rows: tuple[FixRow, ...]) -> int:
    return verdict.FINDINGS if any(row.state == "cannot" for row in rows) else verdict.HOLD


def _text(facts: dict[str, str], rows: tuple[FixRow, ...]) -> str:
    width = max(map(len, facts))
    lines = [f"{key:<{width}}  {value}" for key, value in facts.items()]
    return "\n".join(lines + [line for row in rows for line in _lines(row)]) + "\n"


def _lines(row: FixRow) -> tuple[str, ...]:
    return "", f"{row.name}: {row.state} ({row.cause})", f"  promised: {row.what}", f"  seen:     {row.evidence}"

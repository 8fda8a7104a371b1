"""``guard selftest``: plant each known defect in a project of its own, and demand that ``guard check`` finds it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import guard
from guard import verdict
from guard.commands import planted
from guard.commands.aa import compare_with_itself
from guard.environment import INSTALL, torch_problem, torch_version
from guard.errors import GuardError, TorchMissingError
from guard.report import color
from guard.report.json import dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.commands.options import SelftestOptions
    from guard.commands.planted import Plant

HOLDS = "holds"
NOTHING = "nothing"


@dataclass(frozen=True)
class Row:
    """What became of one plant. Its fields are the keys of the JSON."""

    plant: str
    defect: str
    wanted: str
    got: str
    """Kind and class of each finding, by commas; ``holds``, or ``nothing`` where the check said nothing at all."""
    caught: bool
    """Got exactly what was wanted."""


def selftest(options: SelftestOptions) -> int:
    """Print a line a plant, or with ``aa`` a line a measure of cost; 0 where all are caught as what they are, else 1.

    Raises:
        TorchMissingError: torch is absent or too old.
        GuardError: The project cannot be recorded, so that nothing is shown.
    """
    torch = torch_version()
    problem = torch_problem(torch)
    if problem:
        raise TorchMissingError(problem, INSTALL)
    if options.aa is not None:
        return compare_with_itself(options, options.aa)
    chosen = tuple(one for one in planted.plants() if one.fits(torch))
    with tempfile.TemporaryDirectory(prefix="guard-selftest-") as folder:
        rows = judge(chosen, _outcomes(Path(folder) / "project", chosen))
    if options.format == "json":
        print(dump({"exit_code": exit_code(rows), "plants": [asdict(row) for row in rows]}), end="")
    else:
        print(text(rows, painted=color.wanted(sys.stdout, os.environ)), end="")
    return exit_code(rows)


def _outcomes(root: Path, chosen: tuple[Plant, ...]) -> list[dict[str, Any]]:
    """Record the sound project, plant everything at once, and return the outcomes of one check."""
    planted.write_sound(root, chosen)
    _tell(f"recording {len(chosen)} sound checks")
    done = _guard(root, "update")
    if done.returncode:
        raise GuardError("the project without a defect does not hold", _tail(done))
    planted.write_planted(root, chosen)
    _tell("planting a defect in each, and checking")
    done = _guard(root, "check", "--format", "json")
    try:
        outcomes: list[dict[str, Any]] = json.loads(done.stdout)["outcomes"]
    except (ValueError, KeyError) as error:
        raise GuardError("guard check of the planted project gave no result", _tail(done)) from error
    return outcomes


def judge(chosen: Sequence[Plant], outcomes: Sequence[dict[str, Any]]) -> tuple[Row, ...]:
    """Return a row for each plant, by what ``guard check --format json`` says of its check. Pure."""
    seen: dict[str, list[str]] = {}
    for outcome in outcomes:
        labels = [_label(finding) for finding in outcome["findings"]]
        seen.setdefault(outcome["check"], []).extend(labels or [outcome["status"]])
    return tuple(_row(one, seen.get(one.check, [])) for one in chosen)


def _row(one: Plant, labels: list[str]) -> Row:
    got = ", ".join(dict.fromkeys(labels)) or NOTHING
    return Row(one.name, one.defect, one.wanted, got, got == one.wanted)


def _label(finding: dict[str, Any]) -> str:
    """Name a finding by its kind and class: a capture error's class ends its title."""
    kind = finding["kind"]
    detail = finding["drift"] if kind == "drift" else finding["title"].rpartition(": ")[2] if kind == "error" else ""
    return f"{kind} {detail}".rstrip()


def exit_code(rows: Sequence[Row]) -> int:
    """Return 1 if one plant survived, or was taken for something else."""
    return verdict.HOLD if all(row.caught for row in rows) else verdict.FINDINGS


def text(rows: Sequence[Row], *, painted: bool) -> str:
    """Print the table, the plants that were not caught last, and a line that counts."""
    ordered = sorted(rows, key=lambda row: not row.caught)
    heads = ("plant", "wanted", "got")
    cells = [heads, *((row.plant, row.wanted, row.got) for row in ordered)]
    widths = [max(len(cell[column]) for cell in cells) for column in range(len(heads))]
    lines = ["  ".join(f"{part:<{width}}" for part, width in zip(cell, widths, strict=True)) for cell in cells]
    marks = ["", *(_mark(row, painted=painted) for row in ordered)]
    table = [f"{line}  {mark}".rstrip() for line, mark in zip(lines, marks, strict=True)]
    return "\n".join([*table, _summary(rows)]) + "\n"


def _mark(row: Row, *, painted: bool) -> str:
    if row.wanted == HOLDS:
        return color.paint("holds", "good", color=painted) if row.caught else color.paint("ALARM", "bad", color=painted)
    if row.caught:
        return color.paint("caught", "good", color=painted)
    survived = row.got in (HOLDS, NOTHING)
    return color.paint(f"{'SURVIVED' if survived else 'MISTAKEN'}: {row.defect}", "bad", color=painted)


def _summary(rows: Sequence[Row]) -> str:
    defects = [row for row in rows if row.wanted != HOLDS]
    alarms = sum(not row.caught for row in rows if row.wanted == HOLDS)
    caught = sum(row.caught for row in defects)
    end = f", {alarms} false alarm" if alarms else ""
    return f"{caught} of {len(defects)} defects caught as what they are{end}"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _guard(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run guard as a user would, in a process of its own; its progress is shown."""
    command = [sys.executable, "-m", "guard", *arguments]
    return subprocess.run(  # noqa: S603 - guard itself, with arguments from above
        command, cwd=root, env=_environment(), stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False
    )


def _environment() -> dict[str, str]:
    """Return the user's environment without what would steer pytest, or keep guard from recording."""
    steering = {"CI", "PYTHONWARNINGS"}
    kept = {name: value for name, value in os.environ.items() if name not in steering and not name.startswith("PYTEST")}
    home = str(Path(guard.__file__).parents[1])
    if home in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        return kept
    # guard runs from its source tree, which the project's folder is not in
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, (home, kept.get("PYTHONPATH"))))}


def _tail(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return "\n  ".join(lines[-20:]) or f"it said nothing, exit code {done.returncode}"

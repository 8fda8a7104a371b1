"""Whether what lies beside the graphs is what guard would have written: costs, environment, reasons. Pure."""

from __future__ import annotations

import shlex
from itertools import zip_longest
from unicodedata import normalize

from guard.baselines.audit.fault import Fault
from guard.baselines.names import COST_SUFFIX, cost_path, quoted
from guard.errors import GuardError

ENVIRONMENT, REASONS = "environment.toml", "reasons.toml"
SHOWN = 60


def beside(relative: str, data: bytes, shown: str) -> tuple[Fault, ...]:
    """Return what is wrong with a file that is no graph; one that is none of guard's is nobody's business."""
    restore = f"git checkout HEAD -- {shlex.quote(shown)}"
    if relative.endswith(COST_SUFFIX):
        return _costs(relative, data, shown, restore)
    judge = {ENVIRONMENT: _environment, REASONS: _reasons}.get(relative)
    problem = None if judge is None else judge(data, shown)
    return () if problem is None else (Fault(shown, 1, "unreadable", problem, restore),)


def difference(text: bytes, wanted: bytes) -> tuple[int, str]:
    """Return the first line in which two texts differ, and what is wrong with it."""
    rows = zip_longest(text.splitlines(keepends=True), wanted.splitlines(keepends=True), fillvalue=b"")
    line, (got, want) = next((at, pair) for at, pair in enumerate(rows, 1) if pair[0] != pair[1])
    return line, f"not as guard prints it: wanted {_short(want)}, got {_short(got)}"


def misplaced(relative: str, check: str, wanted: str, shown: str) -> tuple[Fault, ...]:
    """Return a fault where a file is not where its check's belongs."""
    if normalize("NFC", relative) == wanted:
        return ()
    home = f"{shown[: -len(relative)]}{wanted}"
    problem = f'holds check {quoted(check)}, whose file is "{home}"'
    return (Fault(shown, 2, "place", problem, f"git mv -- {shlex.quote(shown)} {shlex.quote(home)}"),)


def _costs(relative: str, data: bytes, shown: str, restore: str) -> tuple[Fault, ...]:
    from guard.baselines import costs

    text = data.replace(b"\r\n", b"\n")
    try:
        sections = costs.parse(text, path=shown)
    except costs.CostSyntaxError as error:
        return (Fault(shown, error.line, "unreadable", error.message, restore),)
    check = costs.check_of(text) or ""
    wanted = costs.dump(check, sections)
    if text != wanted:
        line, problem = difference(text, wanted)
        return (Fault(shown, line, "spelling", problem, restore),)
    return misplaced(relative, check, cost_path(check), shown)


def _environment(data: bytes, _shown: str) -> str | None:
    from guard import environment

    return None if environment.parse(data.decode(errors="replace")) else "not what guard accept writes"


def _reasons(data: bytes, shown: str) -> str | None:
    from guard.baselines import reasons

    try:
        reasons.parse(data, shown)
    except GuardError as error:
        return error.problem.removeprefix(f'"{shown}" ')
    return None


def _short(line: bytes) -> str:
    text = line.decode(errors="backslashreplace")
    return ascii(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")

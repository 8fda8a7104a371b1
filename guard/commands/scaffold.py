"""What ``guard init`` would write, and what is kept: looks at the repository, writes nothing."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.commands.workflow import workflow
from guard.errors import GuardError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from guard.commands.place import Place

TABLE = '[tool.guard]\nchecks = "checks"\nbaselines = "baselines"\n'
IGNORE = ".guard/\n"
# A label of a self-hosted runner: it stands in the workflow between quotes
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Piece(NamedTuple):
    """One file."""

    path: Path
    data: bytes | None
    """What to write; None where the file is kept."""
    lacks: str = ""
    """What to add by hand to one that is kept."""


def plan(place: Place, gpu_runner: str | None) -> tuple[Piece, ...]:
    """Return the files in the order that they are printed.

    Raises:
        UsageError: The label is none, or a file cannot be appended to.
        GuardError: A file cannot be read.
    """
    if gpu_runner is not None and not LABEL.fullmatch(gpu_runner):
        raise UsageError(f"wanted the label of a runner, got {gpu_runner!r}", "guard init --gpu-runner gpu")
    if "${{" in place.prefix:
        raise UsageError(f'"{place.prefix}" cannot be written into a workflow: "${{{{" begins an expression there')
    return (
        _pyproject(place),
        *_check(place),
        _lines(place.root / ".gitattributes", _attributes(place.baselines.relative_to(place.root).as_posix())),
        _lines(place.root / ".gitignore", IGNORE),
        _hooks(place),
        _workflow(place, gpu_runner),
    )


def template(name: str) -> str:
    """Return the text of a file that ships with guard."""
    return (files("guard.commands") / "templates" / f"{name}.txt").read_text(encoding="utf-8")


def _pyproject(place: Place) -> Piece:
    """Append the table; the rest of the file stays as it is, to the byte."""
    path = place.root / "pyproject.toml"
    if place.config is not None:
        return Piece(path, None)
    text = (_read(path) or b"").decode(errors="surrogateescape")
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else end if text.endswith("\n") else end * 2
    after = f"{text}{gap}{TABLE.replace(chr(10), end)}".encode(errors="surrogateescape")
    toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        toml.loads(after.decode())
    except ValueError as error:
        problem = f'"{place.shown(path)}" takes no [tool.guard] at its end: {error}'
        raise UsageError(problem, f"mend it, or write the table yourself:\n{_indented(TABLE)}") from error
    return Piece(path, after)


def _check(place: Place) -> tuple[Piece, ...]:
    """Return a first check, where there are none yet."""
    folder = place.checks
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f'"{place.shown(folder)}" is no folder: the checks would have no place')
    there = sorted(folder.rglob("*.py"))
    if there:
        return (Piece(there[0], None),) if there[0] == folder / "test_example.py" else ()
    return (Piece(folder / "test_example.py", template("check.py").encode()),)


def _lines(path: Path, text: str) -> Piece:
    """Return a file of lines; one that is there is kept, and said to lack those that it has not."""
    before = _read(path)
    if before is None:
        return Piece(path, text.encode())
    has = {line.strip().rstrip("/") for line in before.decode(errors="replace").splitlines()}
    return Piece(path, None, "".join(f"{line}\n" for line in text.splitlines() if line.rstrip("/") not in has))


def _attributes(folder: str) -> str:
    pattern = f"/{folder}/**"
    return f"{json.dumps(pattern, ensure_ascii=False) if re.search(r'[^!-~]', pattern) else pattern} text eol=lf\n"


def _hooks(place: Place) -> Piece:
    path = place.top / ".pre-commit-config.yaml"
    verbs = {verb: json.dumps(_entry(place, verb), ensure_ascii=False) for verb in ("verify", "check")}
    text = template("hooks.yaml")
    for verb, entry in verbs.items():
        text = text.replace(f"@@{verb.upper()}@@", entry if place.prefix else f"guard {verb}")
    before = _read(path)
    if before is None:
        return Piece(path, f"repos:\n{text}".encode())
    told = before.decode(errors="replace")
    known = "guard-check" in told and (not place.prefix or verbs["check"] in told)
    return Piece(path, None, "" if known else text)


def _entry(place: Place, verb: str) -> str:
    """Return what runs in the project's folder: hooks run at the top of the repository."""
    return shlex.join(("sh", "-c", f"cd -- {shlex.quote(place.prefix)} && guard {verb}"))


def _workflow(place: Place, gpu_runner: str | None) -> Piece:
    name = f"guard-{re.sub(r'[^a-z0-9]+', '-', place.prefix.lower()).strip('-')}" if place.prefix else "guard"
    path = place.top / ".github/workflows" / f"{name.rstrip('-')}.yml"
    if os.path.lexists(path):
        return Piece(path, None)
    return Piece(path, workflow(place, name.rstrip("-"), gpu_runner, template).encode())


def _read(path: Path) -> bytes | None:
    """Return a file's bytes, None where there is none.

    Raises:
        GuardError: Something else is there, or it cannot be read.
    """
    if not os.path.lexists(path):
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise GuardError(f'"{path}" cannot be read: {error.strerror}', "nothing was written") from error


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines()).removesuffix("\n")

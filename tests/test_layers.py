"""The house: imports point down, never sideways; torch stays behind its fence; the start of a command stays light."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

import guard

PACKAGE = Path(guard.__file__).parent

# Top to bottom; a room may import rooms of lower floors only, and itself.
FLOORS = (
    ("__main__",),
    ("cli",),
    ("commands",),
    ("pytest_plugin",),
    ("session",),
    ("report",),
    ("verdict",),
    ("drift", "cost", "alarms"),
    ("replay",),
    ("tracers",),
    ("freshness",),
    ("baselines",),
    ("ir",),
    ("specs", "findings", "config", "environment"),
    ("policy",),
    ("errors",),
)
FLOOR = {room: len(FLOORS) - level for level, rooms in enumerate(FLOORS) for room in rooms}
TORCH_ROOMS = ("tracers", "replay", "ir/lower", "ir/rebuild", "cost/flops", "cost/run", "cost/trace")
# (t) rooms are imported inside functions, and only here.
TORCH_ROOM_CALLERS = {"session", "commands", "pytest_plugin"}
TORCH = {"torch", "functorch", "numpy", "sympy"}
LATE = TORCH | {"pytest", "_pytest", "xdist", "rich", "filelock", "execnet"}


class Import(NamedTuple):
    """One import statement."""

    file: Path
    line: int
    name: str
    late: bool
    """Inside a function."""


def imports_of(path: Path) -> list[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [Import(path, node.lineno, alias.name, id(node) in late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides its room"
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "guard" else [node.module]
            found += [Import(path, node.lineno, name, id(node) in late) for name in names]
    return found


def modules(package: Path = PACKAGE) -> list[Path]:
    return sorted(package.rglob("*.py"))


def room_of(relative: str) -> str:
    return relative.split("/", 1)[0].removesuffix(".py")


def in_torch_room(relative: str) -> bool:
    # a room is a folder or a file
    return f"{relative.removesuffix('.py')}/".startswith(tuple(f"{room}/" for room in TORCH_ROOMS))


def faults(package: Path) -> list[str]:
    return [fault for path in modules(package) for item in imports_of(path) for fault in _faults(package, item)]


def _faults(package: Path, item: Import) -> list[str]:
    relative = item.file.relative_to(package).as_posix()
    room, where = room_of(relative), f"{relative}:{item.line}"
    top = item.name.split(".")[0]
    found = []
    if top in TORCH and not in_torch_room(relative):
        found.append(f"{where}: torch outside its rooms: {item.name}")
    if top in LATE and not item.late and not in_torch_room(relative) and _starts_a_command(relative):
        found.append(f"{where}: loaded at the start of every command: {item.name}")
    if top == "guard" and "." in item.name and room != "__init__":
        found += _house_faults(where, relative, room, item)
    return found


def _starts_a_command(relative: str) -> bool:
    # the plugin is loaded by pytest itself; what only it and the run import is loaded after pytest
    return room_of(relative) in {
        "__init__",
        "__main__",
        "cli",
        "config",
        "environment",
        "errors",
        "findings",
        "policy",
        "specs",
        "ir",
        "verdict",
    }


def _house_faults(where: str, relative: str, room: str, item: Import) -> list[str]:
    inner = item.name.split(".")[1:]
    target = inner[0]
    found = []
    if target not in FLOOR:
        return (
            [] if (PACKAGE / "__init__.py").exists() and target in vars(guard) else [f"{where}: no floor for {target}"]
        )
    if target != room and FLOOR[target] >= FLOOR[room]:
        found.append(f"{where}: {room} may not import {target}: imports point down")
    if (
        in_torch_room("/".join(inner[:2]) + "/")
        and not in_torch_room(relative)
        and not (item.late and room in TORCH_ROOM_CALLERS)
    ):
        found.append(
            f"{where}: {item.name} is a torch room: import it inside a function of session, commands or the plugin"
        )
    return found


def test_imports_point_down_and_torch_stays_in_its_rooms() -> None:
    assert faults(PACKAGE) == []


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(path.relative_to(PACKAGE).as_posix()) for path in modules()} - {"__init__"}
    assert rooms <= set(FLOOR)


@pytest.mark.parametrize(
    ("file", "line", "fault"),
    [
        ("ir/printer.py", "import torch", "torch outside its rooms"),
        ("ir/printer.py", "from guard.session import guard", "ir may not import session"),
        ("specs.py", "from guard.findings import Run", "specs may not import findings"),
        ("cli.py", "import rich", "loaded at the start of every command"),
        ("session/x.py", "from guard.tracers import capture", "is a torch room"),
        ("cost/graph.py", "import torch", "torch outside its rooms"),
        ("session/x.py", "from guard.cost.flops import formulas", "is a torch room"),
        ("cost/graph.py", "from guard.drift import align", "cost may not import drift"),
        ("baselines/x.py", "def f():\n    from guard.tracers import capture", "is a torch room"),
        ("report/x.py", "from guard.commands import check", "report may not import commands"),
    ],
)
def test_a_planted_import_is_found(tmp_path: Path, file: str, line: str, fault: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(line + "\n", encoding="utf-8")

    assert any(fault in found for found in faults(tmp_path))

"""Plants of ``guard selftest``: known defects as checks that ship with guard, a file in plants/ each. Runs nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The plant's line in place of the sound one, with the same indentation: ``return x - y  # plant: return y - x``
PLANT = re.compile(r"^(?P<indent> *)(?P<sound>.*?)  # plant: (?P<planted>.*)$", re.MULTILINE)
HEADER = re.compile(r"^# (\w+): (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"(\d+)\.(\d+)")
CONFIG = """\
[tool.guard]
checks = "checks"
baselines = "baselines"

[tool.pytest.ini_options]
addopts = "-p no:cacheprovider"
"""


@dataclass(frozen=True)
class Plant:
    """One defect: a check that holds as recorded, and what is changed then."""

    name: str
    """Of its file, and of the check's module."""
    defect: str
    """One line: what is wrong."""
    wanted: str
    """The finding's kind and the drift's class or the error's behind it: ``drift type``; ``holds`` for the control."""
    text: str
    """The module, with its plants as remarks."""
    removes_baseline: bool = False
    since: str = ""
    """Oldest torch that can show the defect: ``2.13``; any without it."""

    def fits(self, torch: str) -> bool:
        """Tell whether a torch of this version can show the defect; what is no number is a source build."""
        wanted, found = _NUMBER.match(self.since), _NUMBER.match(torch)
        return wanted is None or found is None or _numbers(found) >= _numbers(wanted)

    @property
    def check(self) -> str:
        """Short id."""
        return f"{self.name}::program"

    def module(self, *, planted: bool) -> str:
        """Return the check's module, sound or with the defect."""
        return PLANT.sub(rf"\g<indent>\g<{'planted' if planted else 'sound'}>", self.text)


def plants() -> tuple[Plant, ...]:
    """Read every plant, by name."""
    found = (path for path in files("guard.commands").joinpath("plants").iterdir() if path.name.endswith(".txt"))
    read = ((path.name.removesuffix(".txt"), path.read_text("utf-8")) for path in found)
    return tuple(plant(name, text) for name, text in sorted(read))


def plant(name: str, text: str) -> Plant:
    """Read one plant from its file's text."""
    header = dict(HEADER.findall(text.partition("\nimport ")[0]))
    return Plant(name, header["defect"], header["wanted"], text, "removes" in header, header.get("since", ""))


def _numbers(version: re.Match[str]) -> tuple[int, int]:
    return int(version[1]), int(version[2])


def write_sound(root: Path, chosen: tuple[Plant, ...]) -> None:
    """Make a project whose checks have no defect."""
    (root / "checks").mkdir(parents=True)
    (root / "pyproject.toml").write_text(CONFIG, "utf-8")
    _write(root, chosen, planted=False)


def write_planted(root: Path, chosen: tuple[Plant, ...]) -> None:
    """Plant every defect in the recorded project."""
    _write(root, chosen, planted=True)
    for one in chosen:
        if one.removes_baseline:
            (root / "baselines" / one.name / "program.graph").unlink()


def _write(root: Path, chosen: tuple[Plant, ...], *, planted: bool) -> None:
    for one in chosen:
        (root / "checks" / f"test_{one.name}.py").write_text(one.module(planted=planted), "utf-8")

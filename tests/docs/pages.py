"""The pages of the documentation: the commands that they show, and a shell that runs them. No tests."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.project import ROOT, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d+)$")
_MARK = "@@ {} "
_SHELLS = ("", "console", "sh")


@dataclass
class Command:
    """One line behind ``$``, and what is shown below it."""

    text: str
    exit_code: int
    shown: list[str] = field(default_factory=list)
    """Lines that its output has, in this order; ``...`` stands for any."""


@dataclass
class Page:
    """One page."""

    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def blocks(self, *languages: str) -> Iterator[str]:
        """Yield the fenced blocks of some languages."""
        yield from (text for language, text in _BLOCK.findall(self.text) if language in languages)

    def commands(self) -> list[Command]:
        """Return what the ``console`` blocks show."""
        found: list[Command] = []
        for line in "".join(self.blocks("console")).splitlines():
            if line.startswith("$ "):
                code = _EXIT.search(line)
                found.append(Command(_EXIT.sub("", line)[2:], int(code[1]) if code else 0))
            else:
                found[-1].shown.append(line)
        return found

    def files(self) -> dict[str, str]:
        """Return the files that blocks name in their first line: ``# checks/test_step.py``."""
        found = {}
        for text in self.blocks("python"):
            first, _, rest = text.partition("\n")
            if re.fullmatch(r"# [\w/]+\.py", first):
                found[first[2:]] = rest
        return found


def named_commands(text: str) -> Iterator[str]:
    """Yield every command line of guard's that a page names: in blocks, indented, and between backticks."""
    yield from shown_commands(text)
    yield from re.findall(r"`(guard [a-z]+[^`\n]*)`", _BLOCK.sub("", text))


def shown_commands(text: str) -> Iterator[str]:
    """Yield those that stand alone: in blocks, and indented."""
    shown: list[str] = []
    for language, block in _BLOCK.findall(text):
        if language in _SHELLS:  # in a console, what is not behind "$" was printed
            shown += [line for line in block.splitlines() if line.startswith("$ ") or language != "console"]
    shown += [line[4:] for line in _BLOCK.sub("", text).splitlines() if line.startswith("    ")]
    commands = (re.match(r"(?:\$ )?(guard [a-z].*)$", line) for line in shown)
    yield from (re.split(r"\s+#|\s*[|>&]", found[1])[0] for found in commands if found is not None)


class Shell:
    """Runs the commands of a page in a folder, where ``guard`` is this one."""

    def __init__(self, project: Project, extra: dict[str, str] | None = None) -> None:
        self.project = project
        own = project._environment()
        shim = project.root.parent / "bin/guard"
        shim.parent.mkdir(exist_ok=True)
        shim.write_text(f'#!/bin/sh\nPYTHONPATH="{own["PYTHONPATH"]}" exec "{sys.executable}" -m guard "$@"\n')
        shim.chmod(0o755)
        places = (str(shim.parent), str(Path(sys.executable).parent), own["PATH"])
        self.environment = {name: value for name, value in own.items() if name != "PYTHONPATH"}
        self.environment |= {
            "PATH": os.pathsep.join(places),
            "GIT_CEILING_DIRECTORIES": str(project.root.parent),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": f"nobody{at}" for who in ("AUTHOR", "COMMITTER") for what, at in _WHO},
            **(extra or {}),
        }

    def run(self, commands: list[Command]) -> list[str]:
        """Run them in one shell, one after another; return what is not as the page says."""
        ends = "code=$?; echo; echo '{}'$code"
        lines = [
            f"{{ {one.text}\n}} </dev/null 2>&1; {ends.format(_MARK.format(at))}" for at, one in enumerate(commands)
        ]
        ran = subprocess.run(
            ["bash", "-c", "\n".join(lines)],  # noqa: S607 - whichever bash
            cwd=self.project.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        rest, wrong = ran.stdout, []
        for at, one in enumerate(commands):
            out, mark, rest = rest.partition(_MARK.format(at))
            code, _, rest = rest.partition("\n")
            if not mark or code != str(one.exit_code) or not _shows(out, one.shown):
                wrong.append(f"$ {one.text}\nexit {code}, wanted {one.exit_code}, and {one.shown}\n{out}{ran.stderr}")
        return wrong


_WHO = (("NAME", ""), ("EMAIL", "@example.org"))


def _shows(out: str, wanted: list[str]) -> bool:
    """Tell whether an output has these lines, in this order; spaces around them are the page's layout."""
    left = iter([line.strip() for line in out.splitlines()])
    return all(any(line == one.strip() for line in left) for one in wanted if one.strip() not in ("", "..."))


def parsed(command: str) -> tuple[str, list[str]]:
    """Split a command into its verb and arguments, without what stands for something else: ``ID ...``."""
    _, verb, *arguments = shlex.split(command)
    return verb, [one for one in arguments if one != "..."]

"""A git repository in a temporary folder, out of reach of the user's own settings."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project import Project

SETTINGS = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")


@dataclass
class Repository:
    """A work tree."""

    top: Path

    def git(self, *arguments: str) -> str:
        """Run git; what fails fails the test."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        ran = subprocess.run(
            ["git", *SETTINGS, *arguments],  # noqa: S607 - whichever git the tests find, as guard does
            cwd=self.top,
            env=kept | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def write(self, name: str, text: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, message: str = "change") -> str:
        """Commit everything and return the hash."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", f"--message={message}")
        return self.git("rev-parse", "HEAD").strip()


def repository(top: Path) -> Repository:
    """Make an empty one."""
    top.mkdir(parents=True, exist_ok=True)
    made = Repository(top)
    made.git("init", "--quiet", "--initial-branch=main")
    return made


def record_in(project: Project, torch: str) -> None:
    """Say that the baselines were recorded under another torch."""
    path = project.root / "baselines/environment.toml"
    header, _, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, f'torch = "{torch}"', *rest, ""]), encoding="utf-8")


def rerecord(project: Project, old: str, new: str) -> None:
    """Change the baseline of ``it::one``, as another torch would have captured it."""
    path = project.root / "baselines/it/one.graph"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

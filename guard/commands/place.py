"""Where ``guard init`` writes: the project's root, and the repository's, which is above it in a monorepo."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from guard import config as configuration
from guard.baselines.git import GitError, git
from guard.errors import UsageError

BRANCHES = ("main", "master")


@dataclass(frozen=True)
class Place:
    """One project in its repository. Paths are absolute."""

    root: Path
    """Of the project: where pyproject.toml is or will be."""
    top: Path
    """Of the repository, or the project's where there is none."""
    here: Path
    """The working directory, which printed paths are relative to."""
    config: configuration.Config | None
    """None where the project has none yet."""
    branch: str = BRANCHES[0]
    """Whose pushes CI checks."""
    repository: bool = True
    """Whether git knows the folder."""

    @property
    def prefix(self) -> str:
        """The project below the repository: "" or ``packages/model``."""
        below = self.root.relative_to(self.top).as_posix()
        return "" if below == "." else below

    def shown(self, path: Path) -> str:
        """Return a path as it can be pasted here."""
        return Path(os.path.relpath(path, self.here)).as_posix()

    @property
    def checks(self) -> Path:
        """The folder of the checks, as it is or will be configured."""
        return self.root / "checks" if self.config is None else self.config.checks

    @property
    def baselines(self) -> Path:
        """The folder of the baselines."""
        return self.root / "baselines" if self.config is None else self.config.baselines


def find_place() -> Place:
    """Find where to write: the working directory, unless it lies in a project of guard's and has no pyproject.toml.

    Raises:
        UsageError: The working directory is gone, or a configuration above it is wrong.
    """
    here = _here()
    try:
        top = Path(git(here, "rev-parse", "--show-toplevel").decode(errors="surrogateescape").removesuffix("\n"))
    except GitError:  # no repository, or a bare one
        top = here
    repository = top is not here
    top = top.resolve()
    if not here.is_relative_to(top):
        top = here
    found = _configured(here, top)
    root = here if found is None else found.root
    return Place(root, top if root.is_relative_to(top) else root, here, found, _branch(here), repository)


def _here() -> Path:
    try:
        return Path.cwd().resolve()
    except FileNotFoundError as error:
        raise UsageError("the working directory is gone", "cd to the project") from error


def _configured(here: Path, top: Path) -> configuration.Config | None:
    """Return the configuration of a project of guard's that lies here, or above in this repository."""
    for folder in (here, *here.parents):
        if configuration.has_table(folder):
            return configuration.load(folder)
        if folder == top or (folder / "pyproject.toml").exists():
            return None
    return None


def _branch(here: Path) -> str:
    """Return the branch that pushes are checked on: main or master, else the first one there is."""
    try:
        names = git(here, "for-each-ref", "--format=%(refname:short)", "refs/heads").decode().splitlines()
        current = git(here, "symbolic-ref", "--short", "HEAD").decode().strip()
    except (GitError, UnicodeDecodeError):
        return BRANCHES[0]
    return next((name for name in BRANCHES if name in names), current if not names else BRANCHES[0])

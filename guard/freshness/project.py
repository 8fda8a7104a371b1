"""The files of a project that checks depend on without using them: configuration, conftests, folders, baselines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from guard.baselines.names import relative_path
from guard.freshness.digest import is_noise
from guard.freshness.graph import Use
from guard.freshness.rows import DATA, FILE, FOLDER, data_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.config import Config

# What pytest reads its configuration from (_pytest.config.findpaths), in any folder from the checks up
SETTINGS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
CONFTEST = "conftest.py"
COSTS = ".cost.json"


def settings(config: Config) -> Iterator[Use]:
    """Yield the files that decide how every check is run, whether they are there or not."""
    for folder in (config.checks, *config.checks.parents):
        yield from (Use(FILE, str(folder / name)) for name in (*SETTINGS, CONFTEST))


def folders(top: str, without: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield a folder and all below it, but for caches and those that are named."""
    for folder, below, _ in os.walk(top):
        below[:] = [name for name in below if not is_noise(name) and os.path.join(folder, name) not in without]
        yield folder


def checks(config: Config) -> Iterator[Use]:
    """Yield what decides which checks there are: the folders below the checks' root, and the Python in them."""
    for folder in folders(str(config.checks), (str(config.baselines), str(config.state))):
        yield Use(FOLDER, folder)
        yield from (Use(FILE, path) for path in sorted(_python(folder)))


def baselines(config: Config) -> Iterator[Use]:
    """Yield the folders of the baselines: one more file may be an orphan."""
    yield from (Use(FOLDER, folder) for folder in folders(str(config.baselines)))


def around(config: Config, module: str) -> Iterator[Use]:
    """Yield what a test module depends on by its place: conftests, packages, and data beside it and above."""
    folder = os.path.dirname(module)
    top = str(config.root)
    while folder.startswith(top):
        yield from (Use(FILE, f"{folder}/{name}") for name in (CONFTEST, "__init__.py"))
        if folder.startswith(str(config.checks)):
            yield Use(DATA, folder)
            yield from (Use(FILE, f"{folder}/{name}") for name in data_files(folder))
        folder = os.path.dirname(folder)


def baseline(config: Config, check: str) -> Iterator[Use]:
    """Yield the files that a check is compared with, whether they are there or not."""
    graph = str(config.baselines / relative_path(check))
    yield Use(FILE, graph)
    yield Use(FILE, graph.removesuffix(".graph") + COSTS)


def _python(folder: str) -> list[str]:
    return [f"{folder}/{name}" for name in os.listdir(folder) if name.endswith(".py") and not is_noise(name)]

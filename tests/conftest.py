from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.project import FAKE, Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project: configuration, and checks/ with the fake tracer."""
    made = Project(tmp_path / "project")
    made.write(
        "pyproject.toml",
        '[tool.guard]\nworkers = 1\n\n[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider -p no:benchmark"\n',
    )
    made.write("checks/conftest.py", FAKE)
    return made

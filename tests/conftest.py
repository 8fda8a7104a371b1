from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.project import Project, empty_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project: configuration, and checks/ with the fake tracer."""
    return empty_project(tmp_path / "project")

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.config import Config, load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """An empty project."""
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\n")
    (tmp_path / "checks").mkdir()
    return load(tmp_path)

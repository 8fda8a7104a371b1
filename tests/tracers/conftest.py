from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.tracers.mesh import Meshes
from tests.captures import Captures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def captured(cache: Path) -> Captures:
    return Captures(cache)


@pytest.fixture
def meshes() -> Iterator[Meshes]:
    found = Meshes()
    yield found
    found.close()

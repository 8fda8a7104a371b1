from __future__ import annotations

from typing import Any

import pytest

from guard import Sizes
from guard.errors import UsageError


def make(size: int) -> tuple[Any, tuple[Any, ...]]:
    return (lambda: size), ()


def test_three_sizes_in_geometric_progression_are_taken() -> None:
    assert Sizes(make).at == (8, 16, 32)
    assert Sizes(make, at=(4, 6, 9)).at == (4, 6, 9)
    assert Sizes(make, at=[1, 10, 100]).at == (1, 10, 100)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "at", [(8, 16), (8, 16, 24), (8, 8, 8), (32, 16, 8), (0, 0, 0), (-1, -2, -4), (8, 16, 32, 64), (1.0, 2.0, 4.0)]
)
def test_other_sizes_are_refused(at: Any) -> None:
    with pytest.raises(UsageError, match="geometric progression"):
        Sizes(make, at=at)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(UsageError, match="wanted a function of the size, got tuple"):
        Sizes((make, ()))  # type: ignore[arg-type]

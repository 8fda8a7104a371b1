from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.cost.pmu import has_pmu
from guard.cost.trace.instructions import NONE, measured, works

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Counter:
    """Gives these counts, one after the other."""

    def __init__(self, counts: Iterable[int], handle: int = 3) -> None:
        self.counts = iter(counts)
        self.handle = handle

    def start(self) -> int:
        return self.handle

    def end(self, handle: int, /) -> int:
        assert handle == self.handle
        return next(self.counts)


def test_a_counter_that_grows_with_the_work_works() -> None:
    assert works(Counter([800_000, 7_900_000]))


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([NONE, NONE], id="torch without a PMU"),
        pytest.param([0, 0], id="a virtual machine's"),
        pytest.param([0, 7_900_000], id="one of two"),
        pytest.param([12_345, 12_345], id="does not grow"),
        pytest.param([800_000, 900_000], id="hardly grows"),
        pytest.param([800_000, 800_000_000], id="counts another process, too"),
    ],
)
def test_a_counter_that_does_not_is_not_available(counts: list[int]) -> None:
    assert not works(Counter(counts))


def test_no_handle_is_no_counter() -> None:
    assert not works(Counter([800_000, 7_900_000], handle=-1))


def test_a_run_that_the_counter_lost_has_no_count() -> None:
    ran: list[int] = []
    assert measured(lambda: ran.append(1), Counter([NONE])) is None
    assert measured(lambda: ran.append(1), Counter([5])) == 5
    assert ran == [1, 1]


def test_the_counter_is_closed_when_the_run_raises() -> None:
    counter = Counter([5, 6])
    with pytest.raises(ZeroDivisionError):
        measured(lambda: 1 // 0, counter)
    assert next(counter.counts) == 6


def test_a_kernel_without_a_pmu_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "software").mkdir()
    (tmp_path / "msr").mkdir()
    assert not has_pmu(tmp_path)
    assert not has_pmu(tmp_path / "absent")
    (tmp_path / "cpu").mkdir()
    assert has_pmu(tmp_path)

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.cost.trace.captures import Counted, UncountedError, settled
from guard.cost.trace.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

CODE = compile("", "program.py", "exec")


def taking(*calls: int) -> Callable[[], Counted]:
    counts = iter(calls)
    return lambda: Counted(Tally({1: next(counts)}, {}, {1: CODE}), ())


@pytest.mark.parametrize(
    ("calls", "stands", "taken"),
    [((5, 5), 5, 2), ((6, 5, 5), 5, 3), ((7, 6, 5, 5), 5, 4)],
)
def test_two_equal_counts_in_a_row_stand(calls: tuple[int, ...], stands: int, taken: int) -> None:
    found, number = settled(taking(*calls))
    assert (found.tally.calls, number) == (stands, taken)


def test_four_captures_without_two_equal_in_a_row_are_no_count() -> None:
    with pytest.raises(UncountedError, match="in 4 captures: 5,001, then 5,002 calls"):
        settled(taking(5001, 5002, 5001, 5002, 5002))


def test_one_that_equals_what_was_accepted_stands_at_once() -> None:
    assert settled(taking(5), known=(4, 5))[1] == 1
    assert settled(taking(6, 6), known=(4, 5))[1] == 2

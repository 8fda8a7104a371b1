"""The edits turn one sequence into the other, and are as few as there can be."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from guard.drift.edits import Edit, edits

ROWS = st.lists(st.sampled_from("abc"), max_size=12)


def applied(before: list[str], after: list[str], found: list[Edit]) -> list[str]:
    made = list(before)
    for a, b, c, d in reversed(found):
        made[a:b] = after[c:d]
    return made


def distance(before: list[str], after: list[str]) -> int:
    """Insertions and deletions, by the textbook's table."""
    row = list(range(len(after) + 1))
    for x, left in enumerate(before, 1):
        new = [x]
        for y, right in enumerate(after, 1):
            new.append(row[y - 1] if left == right else 1 + min(row[y], new[y - 1]))
        row = new
    return row[-1]


@given(ROWS, ROWS)
def test_edits_make_the_other_sequence_with_the_fewest_rows(before: list[str], after: list[str]) -> None:
    found = edits(before, after)
    assert applied(before, after, found) == after
    assert sum(edit.b - edit.a + edit.d - edit.c for edit in found) == distance(before, after)


@given(ROWS, ROWS)
def test_more_differences_than_are_of_use_are_one_edit_that_is_right(before: list[str], after: list[str]) -> None:
    found = edits(before, after, most=1)
    assert applied(before, after, found) == after


def test_two_changes_far_apart_in_repeated_rows_are_found_in_linear_time() -> None:
    before = ["a", "b"] * 20_000
    after = [*before[:10], "x", *before[10:-10], "y", *before[-9:]]
    started = time.perf_counter()
    assert edits(before, after) == [Edit(10, 10, 10, 11), Edit(39990, 39991, 39991, 39992)]
    assert time.perf_counter() - started < 5  # seconds; it takes 0.05, quadratic time would take minutes

"""Every check is in exactly one shard, whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.session.shards import share

if TYPE_CHECKING:
    from collections.abc import Sequence

IDS = st.lists(st.text(min_size=1, max_size=12), max_size=40)


def shares(checks: Sequence[str], of: int, durations: dict[str, int] | None = None) -> list[frozenset[str]]:
    return [share(checks, durations or {}, number, of) for number in range(1, of + 1)]


@given(IDS, st.integers(1, 9), st.dictionaries(st.text(max_size=12), st.integers(-5, 10**9), max_size=20), st.randoms())
def test_every_check_is_in_exactly_one_shard_in_any_order(
    checks: list[str], of: int, durations: dict[str, int], random: object
) -> None:
    found = shares(checks, of, durations)
    assert sorted(check for part in found for check in part) == sorted(set(checks))
    turned = list(checks)
    random.shuffle(turned)  # type: ignore[attr-defined]
    assert shares(turned, of, dict(reversed(durations.items()))) == found


def test_one_shard_is_everything_and_more_shards_than_checks_leave_some_empty() -> None:
    assert shares(["a", "b"], 1) == [{"a", "b"}]
    assert sorted(map(len, shares(["a", "b"], 5))) == [0, 0, 0, 1, 1]


def test_without_durations_parts_are_of_equal_number() -> None:
    checks = [f"it::p[{number}]" for number in range(101)]
    assert sorted(map(len, shares(checks, 4))) == [25, 25, 25, 26]


def test_durations_balance_time_not_number() -> None:
    durations = {"slow": 9000} | {f"quick{number}": 1000 for number in range(9)}
    one, two = shares(list(durations), 2, durations)
    assert {frozenset({"slow"}), frozenset(durations) - {"slow"}} == {one, two}


def test_a_new_check_takes_what_the_median_one_does() -> None:
    durations = {"a": 10, "b": 10, "c": 1000}
    parts = shares([*durations, *(f"new{number}" for number in range(98))], 2, durations)
    assert {len(part) for part in parts} == {1, 100}  # c weighs as much as the 100 others


@pytest.mark.parametrize("of", [2, 3, 7])
def test_the_longest_part_is_near_the_best(of: int) -> None:
    durations = {f"it::p[{number}]": 100 + (number * 7919) % 5000 for number in range(60)}
    loads = [sum(durations[check] for check in part) for part in shares(list(durations), of, durations)]
    assert max(loads) <= sum(durations.values()) / of * 1.05

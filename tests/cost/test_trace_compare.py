"""A count is judged against the accepted one: what grew, by how much, and what an accept would write."""

from __future__ import annotations

from typing import Any

import pytest

from guard.baselines.section import Section
from guard.cost.calls import Growth, Key, TraceCost
from guard.cost.trace_compare import Judged, compare, section

KEY = Key("2.13.0 git-1", "3.11", "linux-x86_64", ())
SIZES = (8, 16, 32)
WAS = Section(10_000, 0.01, (("a.py:f", 5_000), ("b.py:g", 120)))


def cost(calls: int, *functions: tuple[str, int], **more: Any) -> TraceCost:
    return TraceCost(KEY, calls, functions, **more)


def judged(calls: int, *functions: tuple[str, int], tolerance: float | None = None, **more: Any) -> Judged:
    return compare(WAS, cost(calls, *functions, **more), tolerance)


@pytest.mark.parametrize(
    ("calls", "state"),
    [(10_000, "holds"), (10_100, "holds"), (10_101, "worse"), (9_900, "holds"), (9_899, "better"), (20_000, "worse")],
)
def test_the_file_s_tolerance_is_the_border(calls: int, state: str) -> None:
    assert judged(calls).state == state


def test_code_and_configuration_come_before_the_file_s_tolerance() -> None:
    assert judged(10_200, tolerance=0.02).state == "holds"
    assert judged(10_050, tolerance=0.0).state == "worse"
    found = judged(10_300, tolerance=0.02).accept
    assert found is not None
    assert found.tolerance == 0.02


def test_what_is_within_tolerance_is_not_written_again() -> None:
    assert judged(10_050, ("a.py:f", 5_050)).accept is None


def test_the_functions_that_grew_most_are_named() -> None:
    found = judged(10_700, ("b.py:g", 500), ("a.py:f", 5_020), ("new.py:h", 350), ("tiny.py:i", 40))
    assert found.title == "+7.0 %: 10,700 calls, was 10,000 (tolerance 1 %)"
    assert found.lines == (
        "+380 b.py:g  120 -> 500",
        "+300 or more new.py:h  at most 50 -> 350",
        "+20 a.py:f  5,000 -> 5,020",
    )
    assert found.accept == section(
        cost(10_700, ("a.py:f", 5_020), ("b.py:g", 500), ("new.py:h", 350), ("tiny.py:i", 40)), 0.01
    )


def test_five_are_enough() -> None:
    assert len(judged(20_000, *((f"x.py:{n}", 1_000 + n) for n in range(9))).lines) == 5


def test_functions_with_few_calls_are_not_stored() -> None:
    kept = section(cost(10_000, ("z.py:small", 49), ("y.py:big", 50), ("\n", 900)), 0.01)
    assert kept.functions == (("y.py:big", 50),)


def test_a_better_count_is_to_be_kept_and_no_failure() -> None:
    found = judged(9_000)
    assert (found.state, found.title) == ("better", "-10.0 %: 9,000 calls, was 10,000 (tolerance 1 %)")
    assert found.accept is not None


def test_nothing_accepted_here_is_new() -> None:
    found = compare(None, cost(7, propagations=0), None)
    assert found == Judged("new", "7 calls", accept=Section(7, 0.01, propagations=0))
    assert compare(None, cost(7), 0.05).accept == Section(7, 0.05)


@pytest.mark.parametrize(("now", "state"), [(0, "better"), (2, "holds"), (3, "worse"), (None, "holds")])
def test_one_more_uncached_propagation_fails(now: int | None, state: str) -> None:
    found = compare(WAS._replace(propagations=2), cost(10_050, propagations=now), None)
    assert found.state == state
    if state == "worse":
        assert found.title == "3 sharding propagations that no cache answered, was 2"
        # the count is within its tolerance, and stays as it was
        assert found.accept == WAS._replace(propagations=3)


def test_both_are_said_in_one_title() -> None:
    found = compare(WAS._replace(propagations=0), cost(10_200, propagations=1), None)
    assert found.title == (
        "+2.0 %: 10,200 calls, was 10,000 (tolerance 1 %); 1 sharding propagation that no cache answered, was 0"
    )


def test_worse_wins_over_better() -> None:
    assert compare(WAS._replace(propagations=0), cost(5_000, propagations=1), None).state == "worse"


def growing(*calls: int) -> Section:
    return WAS._replace(growth=(SIZES, calls))


def test_a_quadratic_tracer_is_called_quadratic() -> None:
    found = compare(growing(1_800, 2_600, 4_200), cost(10_000, growth=Growth(SIZES, (1_640, 3_560, 11_240))), None)
    assert found.state == "worse"
    assert found.title == "grows as n^2.00, was as n^1.00: quadratic"
    assert found.lines[-1] == "size 32: 4,200 -> 11,240 calls"
    assert found.accept == growing(1_640, 3_560, 11_240)


def test_a_growth_of_nearly_the_same_power_holds() -> None:
    assert compare(growing(1_800, 2_600, 4_200), cost(10_000, growth=Growth(SIZES, (1_800, 2_610, 4_330))), None) == (
        Judged("holds")
    )


def test_a_quadratic_part_of_mostly_linear_work_is_seen() -> None:
    # 300 a node, and each node looks at those before it
    low, middle, high = (1_000 + 300 * size + size * size for size in SIZES)
    found = compare(growing(1_800, 2_600, 4_200), cost(10_000, growth=Growth(SIZES, (low, middle, high))), None)
    assert found.state == "worse"
    assert found.title == "grows as n^1.10, was as n^1.00: +3.3 % of its calls are above a straight line"
    assert found.accept == growing(low, middle, high)


def test_what_did_not_grow_may_not_begin_to() -> None:
    found = compare(growing(900, 900, 900), cost(10_000, growth=Growth(SIZES, (900, 1_000, 1_200))), None)
    assert found.title == "grows as n^1.00, was not at all: linear"


@pytest.mark.parametrize("was", [WAS, WAS._replace(growth=((2, 4, 8), (1, 2, 4)))])
def test_other_sizes_are_new_and_leave_the_count_alone(was: Section) -> None:
    found = compare(was, cost(10_050, growth=Growth(SIZES, (1, 2, 4))), None)
    assert (found.state, found.accept) == ("new", WAS._replace(growth=(SIZES, (1, 2, 4))))


def test_a_measure_that_was_not_taken_stays_accepted() -> None:
    was = growing(1_800, 2_600, 4_200)._replace(propagations=4)
    found = compare(was, cost(11_000), None)
    assert found.accept is not None
    assert (found.accept.growth, found.accept.propagations) == (was.growth, 4)


def test_an_empty_trace_has_a_share_too() -> None:
    assert compare(Section(0, 0.01), cost(0), None).state == "holds"
    assert compare(Section(0, 0.01), cost(1), None).state == "worse"

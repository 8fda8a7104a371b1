from __future__ import annotations

import pytest

from guard.baselines.selectors import matches, near, resolve
from guard.errors import UsageError

KNOWN = (
    "nested_trace::expand[real-fake]",
    "nested_trace::expand[real-real]",
    "nested_trace::expand_all",
    "nested_trace::expand_all#second",
    "nested_trace::TestX.step[a*b]",
    "nested_trace::TestX.step[aXb]",
    "dtensor/mutation::step",
    "dtensor/mutation_2::step",
    "dtensor/test_odd::x",
)


@pytest.mark.parametrize(
    ("selector", "indices"),
    [
        ("nested_trace::expand[real-fake]", [0]),
        ("checks/test_nested_trace.py::test_expand[real-fake]", [0]),
        ("./checks/test_nested_trace.py::test_expand[real-fake]", [0]),
        ("baselines/nested_trace/expand[real-fake].graph", [0]),
        ("nested_trace::expand", [0, 1]),
        ("checks/test_nested_trace.py::test_expand", [0, 1]),
        ("nested_trace::expand_all", [2]),
        ("nested_trace", [0, 1, 2, 3, 4, 5]),
        ("checks/test_nested_trace.py", [0, 1, 2, 3, 4, 5]),
        ("nested_trace::TestX", [4, 5]),
        ("checks/test_nested_trace.py::TestX", [4, 5]),
        ("nested_trace::TestX.step[a*b]", [4]),
        ("dtensor", [6, 7, 8]),
        ("checks/dtensor/", [6, 7, 8]),
        ("dtensor/mutation", [6]),
        ("dtensor/test_odd::x", [8]),
        ("checks", range(9)),
        ("*", range(9)),
        ("*::step", [6, 7]),
        ("nested_trace::expand[real-*]", [0, 1]),
        ("nested_trace::expand*", [0, 1, 2, 3]),
        ("nested_trace::expan?", [0, 1]),
        ("nested", []),
        ("step", []),
        ("nested_trace::exp", []),
        ("", range(9)),
    ],
)
def test_what_a_selector_names(selector: str, indices: list[int]) -> None:
    assert matches(selector, KNOWN, "checks") == tuple(KNOWN[index] for index in indices)


def test_brackets_are_no_character_class() -> None:
    assert matches("nested_trace::expand[rf*]", KNOWN, "checks") == ()


def test_resolve_joins_and_sorts() -> None:
    assert resolve(["dtensor", "dtensor/mutation::step"], KNOWN, "checks") == tuple(sorted(KNOWN[6:]))
    assert resolve([], KNOWN, "checks") == ()


def test_an_unknown_one_names_what_is_near() -> None:
    with pytest.raises(UsageError) as caught:
        resolve(["dtensor", "nested_trace::expand[real-fak]"], KNOWN, "checks")
    assert caught.value.problem == 'unknown check "nested_trace::expand[real-fak]"'
    assert caught.value.tip is not None
    assert caught.value.tip.startswith('did you mean "nested_trace::expand[real-fake]"')


def test_near_by_part_or_none() -> None:
    assert near("expand_all", KNOWN, "checks") == ("nested_trace::expand_all", "nested_trace::expand_all#second")
    with pytest.raises(UsageError, match="guard list"):
        resolve(["zzz"], KNOWN, "checks")

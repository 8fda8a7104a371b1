"""Each row of the table is said where its evidence is, and not where one part of it is missing."""

from __future__ import annotations

import pytest

from guard.drift.known import TABLE, Evidence, known

FITS = {
    "pytorch#185865": Evidence("proxy-leak", ("empty_strided", "embedding"), (), distributed=True, backward=False),
    "torchtitan#3818": Evidence("proxy-leak", ("constant", "lift_fresh_copy"), (), distributed=True, backward=False),
    "pytorch#93290": Evidence("proxy-leak", ("detach", "expand"), (), distributed=False, backward=False),
    "pytorch#194037": Evidence(
        "structure", ("slice", "slice"), ("split_with_sizes",), distributed=False, backward=False
    ),
    "pytorch#152346": Evidence("mutation", ("select_scatter", "copy_"), ("copy_",), distributed=False, backward=False),
    "pytorch#170467": Evidence("mutation", (), ("copy_",), distributed=True, backward=True),
}
MISSES = {
    "pytorch#185865": Evidence("proxy-leak", ("empty_strided", "embedding"), (), distributed=False, backward=False),
    "torchtitan#3818": Evidence("structure", ("constant", "lift_fresh_copy"), (), distributed=True, backward=False),
    "pytorch#93290": Evidence("structure", ("detach",), (), distributed=False, backward=False),
    "pytorch#194037": Evidence("structure", ("view",), ("split_with_sizes",), distributed=False, backward=False),
    "pytorch#152346": Evidence("mutation", ("copy_",), ("copy_",), distributed=False, backward=False),
    "pytorch#170467": Evidence("mutation", (), ("copy_",), distributed=False, backward=True),
}


def test_every_row_has_a_test() -> None:
    assert {row.number for row in TABLE} == set(FITS) == set(MISSES)


@pytest.mark.parametrize("number", FITS)
def test_a_row_is_said_where_its_evidence_is(number: str) -> None:
    assert number in str(known(FITS[number]))


@pytest.mark.parametrize("number", MISSES)
def test_a_row_is_not_said_where_a_part_is_missing(number: str) -> None:
    assert number not in str(known(MISSES[number]))

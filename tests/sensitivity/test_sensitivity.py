"""All that means something is seen and named; nothing that means nothing is. docs/sensitivity.md has the table."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from guard.drift.change import CLASSES
from tests.sensitivity import rewrite
from tests.sensitivity.bench import ROOMS, Settings, mutator
from tests.sensitivity.harness import run
from tests.sensitivity.table import KINDS, REWRITES
from tests.sensitivity.tables import caught, numbers, right

if TYPE_CHECKING:
    from tests.sensitivity.bench import Tally

# issue: the numbers that a release must show
MUTANTS, RIGHT, HARMLESS = 5000, 0.95, 2000


def test_the_table_is_as_wide_as_the_promise() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 25
    assert {kind.drift for kind in KINDS} == set(CLASSES)
    assert {kind.level for kind in KINDS} == {"graph", "metadata", "context"}  # all before lowering
    assert len({one.name for one in REWRITES}) == len(REWRITES) >= 8
    assert {one.level for one in REWRITES} == {"graph", "program", "text"}


def test_the_table_and_the_mutators_are_the_same() -> None:
    assert [mutator(kind.name).__name__ for kind in KINDS] == [kind.name for kind in KINDS]
    assert all(inspect.isfunction(getattr(rewrite, one.name)) for one in REWRITES)
    assert len(ROOMS) == len(set(ROOMS))


def assert_all(tally: Tally) -> None:
    assert tally.failures == []
    assert [(seen.name, seen.check, seen.seed) for seen in tally.mutants if not caught(seen)] == []
    assert [(seen.name, seen.check, seen.seed) for seen in tally.rewrites if caught(seen)] == []


def wrong(tally: Tally) -> Counter[tuple[str, tuple[str, ...]]]:
    return Counter((seen.name, seen.classes) for seen in tally.mutants if not right(seen))


def test_a_few_captures_of_each_kind() -> None:
    few = "started_from_dispatch_mode or (foreach_step and dtensor-compile) or (mesh_size and 2-joint)"
    tally = run(few, Settings(each=1, rewrites=1))
    assert tally.captures == 5
    assert_all(tally)
    found = numbers(tally)
    assert found.right >= RIGHT * found.mutants, wrong(tally)


@pytest.mark.prove
def test_every_capture() -> None:
    tally = run()
    assert_all(tally)
    found = numbers(tally)
    assert found.mutants >= MUTANTS
    assert found.rewrites >= HARMLESS
    assert found.right >= RIGHT * found.mutants, wrong(tally)
    # a mutator that finds no place proves nothing; canonicalize waits for a torch that has it
    tried = {seen.name for seen in (*tally.mutants, *tally.rewrites)}
    assert {row.name for row in (*KINDS, *REWRITES)} - tried <= {"canonicalize"}

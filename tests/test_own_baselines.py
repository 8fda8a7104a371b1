"""The project's own baselines: canonical text that parses back exactly, where its id says, each with a trace cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.baselines import costs
from guard.baselines.names import COST_SUFFIX, check_of, cost_path
from guard.ir.canonical import equal
from guard.ir.parser import parse_bytes
from guard.ir.printer import print_program

BASELINES = Path(__file__).parent.parent / "baselines"
FILES = sorted(BASELINES.rglob("*.graph"))


def test_there_are_baselines_of_both_families() -> None:
    assert {path.parent.name for path in FILES} == {"nested_trace", "dtensor_mutation"}


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_baseline_is_the_text_of_what_it_says(path: Path) -> None:
    data = path.read_bytes()
    program = parse_bytes(data, str(path))

    assert print_program(program).encode() == data
    assert equal(program, program)
    assert program.check == check_of(path.relative_to(BASELINES).as_posix())


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_another_operator_in_a_baseline_is_another_graph(path: Path) -> None:
    program = parse_bytes(path.read_bytes(), str(path))
    text = print_program(program)
    lines = text.splitlines()
    node = next(place for place in reversed(range(len(lines))) if " = " in lines[place])
    changed = [*lines[:node], lines[node].replace(" = ", " = other.", 1), *lines[node + 1 :], ""]

    assert not equal(program, parse_bytes("\n".join(changed).encode(), str(path)))


def test_each_has_its_trace_cost_and_the_text_of_what_it_says() -> None:
    found = {path.relative_to(BASELINES).as_posix() for path in BASELINES.rglob(f"*{COST_SUFFIX}")}
    checks = {check_of(path.relative_to(BASELINES).as_posix()) or "" for path in FILES}
    assert found == {cost_path(check) for check in checks}
    for check in checks:
        data = (BASELINES / cost_path(check)).read_bytes()
        sections = costs.parse(data, check)
        assert costs.dump(check, sections) == data
        assert all(section.calls > 0 and section.functions for section in sections.values())

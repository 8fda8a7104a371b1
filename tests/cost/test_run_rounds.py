"""Current's rounds in somebody else's hands, baseline's between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from guard.cost.paired import Paired
from guard.cost.run.couple import Couple, couples
from guard.cost.run.rounds import rounds
from guard.ir.parser import parse_program

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = "guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%x: f32[4]) -> (alias %x: f32[4]) {\n"
WRITES = f"{HEAD}  %0: f32[4] = aten.add_.Tensor(%x, 1) {{write %x, alias %x}}\n  return %0\n}}\n"


@pytest.fixture
def both() -> Couple:
    program = parse_program(WRITES)
    (found,) = couples(program, program)
    assert not isinstance(found, Paired), found.problem
    return found


def pedantic(target: Callable[[], Any], setup: Callable[[], Any], teardown: Callable[[], Any], rounds: int) -> None:
    for _ in range(rounds):
        setup()
        target()
        teardown()


def test_the_baseline_runs_around_each_two_rounds_on_inputs_that_were_put_back(
    both: Couple, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, float]] = []

    def clock(call: Any) -> float:
        name = "current" if call.func is both.current.module else "baseline"
        seen.append((name, float(both.inputs[0][0] - began)))
        call()
        return {"current": 3e-3, "baseline": 2e-3}[name]

    began = both.state._began[0][0].clone()
    monkeypatch.setattr("guard.cost.run.rounds.clock_of", lambda _: clock)
    monkeypatch.setattr("guard.cost.run.rounds.SPARE", 0.0)

    found = rounds([both], pedantic)

    assert found == pytest.approx((1.5, 2e-3, 3e-3, None))
    assert {written for _, written in seen} == {0.0}
    order = "".join(name[0] for name, _ in seen[3:])  # three first, to see how long one takes
    assert order == "bccb" * 25


def test_without_a_whole_quad_there_is_no_ratio(both: Couple) -> None:
    def once(target: Callable[[], Any], setup: Callable[[], Any], **_: Any) -> None:  # as with --benchmark-disable
        setup()
        target()

    assert rounds([both], once) is None

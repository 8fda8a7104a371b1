"""Baseline's graph against current's, both rebuilt: values and time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from guard.cost.run.clock import clock_of, seconds
from guard.cost.run.pair import pairs
from guard.cost.run.quads import quads
from guard.cost.run.setting import quiet
from guard.drift.classify import changes
from guard.ir.parser import parse_program
from guard.session.costs import cost_lines
from guard.specs import MakeFx
from tests.captures import Captures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from guard.cost.paired import Paired
    from guard.ir.graph import Program

X, Y = torch.ones(4, 4), torch.ones(4, 4)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with quiet():
        yield


@pytest.fixture
def captured(cache: Path) -> Captures:
    return Captures(cache)


def one(baseline: Program, current: Program, count: int = 0) -> Paired:
    (found,) = pairs(baseline, current, count)
    return found


def test_swapped_operands_of_an_add_compute_the_same_and_of_a_sub_do_not(captured: Captures) -> None:
    add = one(captured(MakeFx(), lambda x, y: x + y, X, Y), captured(MakeFx(), lambda x, y: y + x, X, Y))
    sub = one(captured(MakeFx(), lambda x, y: x - y, X, Y), captured(MakeFx(), lambda x, y: y - x, X, Y))

    assert (add.values, add.difference, add.problem) == ("same values", None, None)
    assert sub.values == "values differ"
    wanted, got = str(sub.difference).removeprefix("output 0 [0, 0]: wanted ").split(", got ")
    assert float(wanted) == -float(got) != 0


def test_written_inputs_are_compared_and_put_back(captured: Captures) -> None:
    double = captured(MakeFx(), lambda x: (x.mul_(2), None)[1], X)

    assert one(double, captured(MakeFx(), lambda x: (x.add_(x), None)[1], X), 1).values == "same values"
    found = one(double, captured(MakeFx(), lambda x: (x.mul_(3), None)[1], X))
    assert str(found.difference).startswith("written inputs: [1] [0, 0]: wanted ")
    # 3 quads of up to 200 calls double their input each time: without putting it back the values would be infinite
    inside = one(double, captured(MakeFx(), lambda x: (x.mul_(2).clone(), None)[1], X), 3)
    assert inside.values == "same values"


def test_an_output_that_a_later_run_overwrites_is_compared_as_it_was(captured: Captures) -> None:
    found = one(captured(MakeFx(), lambda x: x.add_(1), X), captured(MakeFx(), lambda x: x.add_(2), X))

    assert str(found.difference).startswith("output 0 [0, 0]: wanted ")


def test_a_symbolic_graph_runs_at_sizes_that_both_allow(captured: Captures) -> None:
    x = torch.ones(6, 5)
    was = captured(MakeFx(tracing_mode="symbolic"), lambda x: x.view(x.shape[0] // 2, 2, x.shape[1]) + 1, x)
    now = captured(MakeFx(tracing_mode="symbolic"), lambda x: 1 + x.reshape(x.shape[0] // 2, 2, x.shape[1]), x)

    assert one(was, now).values == "same values"


def test_random_numbers_that_differ_are_said_to_be_random(captured: Captures) -> None:
    was = captured(MakeFx(), lambda x: x + torch.rand(4, 4), X)

    assert one(was, was).values == "same values"
    drawn = one(was, captured(MakeFx(), lambda x: x + torch.rand(4, 4) + torch.rand(4, 4), X))
    assert "draws random numbers" in str(drawn.difference)


@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        ("%x: f32[4]", "%x: f32[5]", "the inputs differ"),
        ("%x: f32[4]", "%x: f32[4], %y: f32[4]", "the inputs differ"),
        ("%x: f32[4], %y: int(2)", "%x: f32[4], %y: int(3)", "the inputs differ"),
    ],
)
def test_other_inputs_are_not_comparable(was: str, now: str, reason: str) -> None:
    text = "guard-graph 1\ncheck a::b\ntracer t\n\ngraph main({}) -> (None) {{\n  return None\n}}\n"
    left, right = (parse_program(text.format(inputs)) for inputs in (was, now))

    assert reason in str(one(left, right).problem)


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        ("aten.sin.default(%x) {write %x}", "rebuilt, the graph reads differently than its text"),
        ("_c10d_functional.all_reduce.default(%x) {comm 0, 1}", "collectives have no run cost yet"),
        ("aten.view.default(%x, [3])", "it fails on fresh inputs: shape '[3]' is invalid"),
        ("aten.cat.default([%x, %x])", '"aten.cat.default" gives float32[8], the text says float32[4]'),
        ("aten.gt.Scalar(%x, 0)", '"aten.gt.Scalar" gives bool[4], the text says float32[4]'),
        ("os.system(%x)", 'no operator "os.system" is registered here'),
    ],
)
def test_a_graph_that_cannot_run_says_why(node: str, problem: str) -> None:
    text = f"guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%x: f32[4]) -> (f32[4]) {{\n  %0: f32[4] = {node}\n"
    alias = " {alias %x}" if "view" in node else ""
    program = parse_program(
        f"{text[:-1]}{alias}\n  return %0\n}}\n".replace("-> (f32", "-> (alias %x: f32" if alias else "-> (f32")
    )

    found = one(program, program)

    assert problem in str(found.problem)
    assert found.values == ""


def test_a_graph_over_whole_dtensors_is_not_run_on_their_local_parts() -> None:
    dtensor = "dt<f32[4, 4], mesh(2), [S(0)]> local f32[2, 4]"
    program = parse_program(
        f"guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%a: {dtensor}) -> ({dtensor}) {{\n"
        "  %0: f32[4, 4] = aten.sin.default(%a)\n  return %0\n}\n"
    )

    found = one(program, program)

    assert (found.values, found.ratio) == ("", None)
    assert "gives float32[2, 4], the text says float32[4, 4]" in str(found.problem)


def test_other_graphs_and_errors_are_not_comparable(captured: Captures) -> None:
    good = captured(MakeFx(), lambda x: x.sin(), X)
    failed = parse_program('guard-graph 1\ncheck a::b\ntracer t\nerror crash\nline "x"\nfingerprint 0123456789ab\n')
    empty = parse_program("guard-graph 1\ncheck a::b\ntracer t\nno graphs\n")

    assert "failed" in str(one(failed, good).problem)
    assert "other graphs" in str(pairs(good, empty)[0].problem)


def chain(extra: int) -> Callable[..., Any]:
    def program(x: Any, y: Any) -> Any:
        for _ in range(10 + extra):
            x = (x @ y).relu()
        return x

    return program


class Work(TorchDispatchMode):
    """A clock that counts operators: what real time says of a busy machine is for benchmarks."""

    def __init__(self, each: float) -> None:
        super().__init__()
        self.each = each
        self.done = 0

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.done += 1
        return func(*args, **(kwargs or {}))

    def __call__(self, call: Callable[[], Any]) -> float:
        self.done = 0
        with self:
            call()
        return self.each * self.done


def test_a_tenth_more_work_is_caught_and_the_same_graph_is_not_slower(
    captured: Captures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guard.cost.run.pair.clock_of", lambda _: Work(1e-3))
    baseline, more = captured(MakeFx(), chain(0), X, Y), captured(MakeFx(), chain(1), X, Y)

    same = one(baseline, baseline, 9)
    found = one(baseline, more, 9)

    assert (found.is_slower, same.is_slower) == (True, False)
    assert found.ratio == pytest.approx((1.1, 20e-3, 22e-3, None))


def test_planted_work_is_caught(captured: Captures) -> None:
    weight, x = torch.ones(256, 64), torch.ones(8, 64)
    plain = captured(MakeFx(), lambda x, w: (x @ w.t()).relu(), x, weight)
    clone = captured(MakeFx(), lambda x, w: (x @ w.clone().t()).relu(), x, weight)
    upcast = captured(MakeFx(), lambda x, w: (x.double() @ w.t().double()).float().relu(), x, weight)

    more, where = cost_lines(plain, clone, changes(plain, clone))
    assert more.startswith("costs more: bytes read +65,536, bytes written +65,536, peak live bytes +")
    assert where.startswith("  at %0 aten.clone.default: read 65,536, written 65,536  ")
    assert cost_lines(plain, upcast, changes(plain, upcast))[0].endswith("casts f32 -> f64 +2, casts f64 -> f32 +1")
    assert one(plain, clone).values == "same values"


def test_a_device_that_is_not_here_is_said(captured: Captures) -> None:
    program = captured(MakeFx(), lambda x: x.sin(), X)
    elsewhere = replace(program, graphs=(replace(program.graphs[0], device="cuda:0"),))
    if torch.cuda.is_available():
        pytest.skip("it is here")

    assert one(elsewhere, elsewhere).problem == 'no run cost: no device "cuda:0" here'


def test_small_graphs_are_report_only(captured: Captures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard.cost.run.pair.clock_of", lambda _: Work(5e-6))
    program = captured(MakeFx(), lambda x: x.sin().cos().sin(), X)

    found = one(program, program, 9)

    assert found.ratio is not None
    assert str(found.ratio.report_only).startswith("low occupancy")


def test_quads_run_baseline_current_current_baseline_with_the_inputs_put_back() -> None:
    seen: list[str] = []
    times = {"a": 2.0, "b": 3.0}

    def clock(call: Callable[[], Any]) -> float:
        return times[call()]

    def run(name: str) -> Callable[[], str]:
        def call() -> str:
            seen.append(name)
            return name

        return call

    (quad,) = quads(run("a"), run("b"), 1, clock, lambda: seen.append("-"))

    assert "".join(seen[-8:]) == "-a-b-b-a"
    assert quad.ratio == 1.5


def test_a_slow_graph_gets_fewer_quads() -> None:
    found = quads(lambda: None, lambda: None, 25, lambda _: 5.0, lambda: None)

    assert len(found) == 3


def test_without_cuda_its_clock_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    assert clock_of("cuda:0") is seconds
    assert clock_of("cpu") is seconds


def test_custom_operators_of_current_may_be_in_the_baseline() -> None:
    with torch.library._scoped_library("guard_pair_test", "DEF") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")
        text = (
            "guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%x: f32[4]) -> (f32[4]) {\n"
            "  %0: f32[4] = guard_pair_test.twice.default(%x)\n  return %0\n}\n"
        )
        custom, plain = parse_program(text), parse_program(text.replace("guard_pair_test.twice", "aten.sin"))

        assert one(custom, custom).values == "same values"
        assert "unknown target" in str(one(custom, plain).problem)

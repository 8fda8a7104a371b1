"""What costs more is said, with the nodes that do: one plant a measure."""

from __future__ import annotations

import pytest

from guard.cost.compare import difference, lines
from guard.cost.graph import program_cost
from guard.drift.classify import changes
from guard.findings import Finding, Outcome, outcome_from_json, outcome_to_json
from guard.ir.parser import parse_program
from guard.ir.printer import print_program
from guard.report.groups import grouped
from guard.report.terminal import render_finding
from guard.session.costs import compare_costs, cost_lines
from guard.session.judge import judge

REDUCE = "_c10d_functional.all_reduce.default"
HEAD = "guard-graph 1\ncheck a::b\ntracer t\n"
BASE = """\
graph main(%x: f32[64, 64], %y: f32[64, 8]) -> (f32[64, 8]) {
  %0: f32[64, 8] = aten.mm.default(%x, %y)
  %1: f32[64, 8] = aten.relu.default(%0)
  return %1
}
"""
CLONE = BASE.replace(
    "  %0: f32[64, 8] = aten.mm.default(%x, %y)",
    """\
  %c: f32[64, 64] = aten.clone.default(%x)
  %0: f32[64, 8] = aten.mm.default(%c, %y)""",
)
VIEW = CLONE.replace("aten.clone.default(%x)", "aten.alias.default(%x) {alias %x}")
UPCAST = """\
graph main(%x: f32[64, 64], %y: f32[64, 8]) -> (f64[64, 8]) {
  %a: f64[64, 64] = aten._to_copy.default(%x, dtype=f64)
  %b: f64[64, 8] = aten._to_copy.default(%y, dtype=f64)
  %0: f64[64, 8] = aten.mm.default(%a, %b)
  %1: f64[64, 8] = aten.relu.default(%0)
  return %1
}
"""
COLLECTIVE = BASE.replace(
    "  return %1",
    """\
  %2: f32[64, 8] = _c10d_functional.all_reduce.default(%1, "sum", group(0, 1)) {comm 0, 1}
  %3: f32[64, 8] = _c10d_functional.wait_tensor.default(%2)
  return %3""",
)
MOVED = BASE.replace(
    "  return %1",
    """\
  %2: f32[64, 8]@cuda:0 = aten._to_copy.default(%1, device=device(cuda:0))
  return %2""",
).replace("(f32[64, 8]) {", "(f32[64, 8]@cuda:0) {")
TWICE = BASE.replace("  return %1", "  _: f32[64, 8] = aten.mm.default(%x, %y)\n  return %1")
WRITES = BASE.replace("  return %1", "  _: f32[64, 8] = aten.copy_.default(%y, %1) {write %y, alias %y}\n  return %1")


def said(baseline: str, current: str) -> tuple[str, ...]:
    return cost_lines(*(a := (parse_program(HEAD + baseline), parse_program(HEAD + current))), changes(*a))


@pytest.mark.parametrize(
    ("current", "first", "node"),
    [
        (CLONE, "costs more: bytes read +16,384, bytes written +16,384, peak live bytes +14,336",
         "  at %c aten.clone.default: read 16,384, written 16,384"),
        (UPCAST, "casts f32 -> f64 +2", "  at %a aten._to_copy.default: read 16,384, written 32,768, f32 -> f64"),
        (COLLECTIVE, "all_reduce among 2 +1", f"  at %2 {REDUCE}: read 2,048, written 2,048, sends 2,048 among 2"),
        (MOVED, "copies cpu -> cuda:0 +1", "  at %2 aten._to_copy.default: read 2,048, written 2,048, cpu -> cuda:0"),
        (TWICE, "costs more: flops 2.00x", "  at _ aten.mm.default: flops 65,536, read 18,432, written 2,048"),
        (WRITES, "bytes rewritten in inputs +2,048", "  at _ aten.copy_.default: read 2,048, written 2,048"),
    ],
    ids=["clone", "upcast", "collective", "device", "product", "mutation"],
)  # fmt: skip
def test_a_plant_is_said_with_its_node(current: str, first: str, node: str) -> None:
    head, *nodes = said(BASE, current)
    assert first in head
    assert node in nodes


@pytest.mark.parametrize("current", [CLONE, UPCAST, COLLECTIVE, MOVED, TWICE, WRITES])
def test_taken_back_it_is_a_note(current: str) -> None:
    found = said(current, BASE)
    assert found[0].startswith("note: cheaper: ")
    assert len(found) == 1


def test_a_view_costs_nothing() -> None:
    assert said(BASE, VIEW) == ()
    assert said(CLONE, VIEW)[0].startswith("note: cheaper: bytes read -16,384")


def test_events_cost() -> None:
    base, now = (parse_program(HEAD + events + BASE) for events in ("", 'break "print"\n'))
    assert lines(difference(program_cost(base), program_cost(now))) == ("costs more: graph breaks +1",)


def test_of_nodes_that_cost_alike_the_changed_one_is_named() -> None:
    rows = ["  %0: f32[8] = aten.clone.default(%x)", "  %1: f32[8] = aten.clone.default(%0)"]
    text = "graph main(%x: f32[8]) -> (f32[8]) {{\n{}\n  return %1\n}}\n"
    base = parse_program(
        HEAD + text.format("\n".join([rows[0], rows[1].replace("clone.default(%0)", "alias.default(%0) {alias %0}")]))
    )
    now = parse_program(HEAD + text.format("\n".join(rows)))
    prices = program_cost(base), program_cost(now)
    assert lines(difference(*prices))[1].startswith("  at %1 ")
    assert lines(difference(*prices, {("main", 0)}))[1].startswith("  at %0 ")


def test_many_nodes_are_counted() -> None:
    extra = "".join(f"  %c{n}: f32[64, 64] = aten.clone.default(%x)\n" for n in range(9))
    found = said(BASE, BASE.replace("  return", f"{extra}  return"))
    assert len(found) == 1 + 3 + 1
    assert found[-1] == "  and 6 more nodes"


def test_a_rise_that_depends_on_sizes_says_so() -> None:
    text = "graph main(%x: f32[s0, s1]) -> (f32[s0, s1]) {{\n{}\n  return %x\n}}\n"
    square = text.format("  %0: f32[s0, s0] = aten.clone.default(%x)")
    line = text.format("  %0: f32[s1, 100] = aten.clone.default(%x)")
    assert "bytes written higher or lower with the sizes" in said(square, line)[0]
    twice = square.replace("  return", "  %1: f32[s1] = aten.clone.default(%x)\n  return")
    assert "bytes written +s1*4" in said(square, twice)[0]


def test_without_torch_flops_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard.session.costs.torch_formulas", lambda: None)
    assert said(BASE, TWICE)[0].startswith("costs more: flops n/a, bytes read +18,432")
    assert said(BASE, VIEW) == ("note: flops n/a: torch is not installed, or has no formulas that guard can ask",)
    monkeypatch.delitem(__import__("sys").modules, "torch", raising=False)
    assert said(BASE, VIEW) == ()  # the same products: their FLOPs are no question
    assert said(BASE, TWICE)[0].startswith("costs more: flops n/a")


def test_the_first_drift_carries_it_and_policy_and_grouping_do_not_see_it() -> None:
    baseline, current = (parse_program(HEAD + text) for text in (BASE, CLONE))
    found = judge(current, print_program(current), print_program(baseline).encode(), "p", cost_lines)
    assert [bool(one.cost) for one in found] == [True]
    assert "\n  costs more: bytes read +16,384" in render_finding(found[0])
    assert (found[0].kind, found[0].drift) == ("drift", "structure")
    outcome = Outcome("a::b", "n", found)
    assert outcome_from_json(outcome_to_json(outcome)) == outcome
    other = Finding(**{**vars(found[0]), "check": "a::c", "cost": ()})
    assert len(grouped([*found, other])) == 1


def test_the_difference_names_its_measures() -> None:
    found = compare_costs(parse_program(HEAD + BASE), parse_program(HEAD + CLONE))
    assert [(delta.name, delta.now - delta.was) for delta in found.deltas] == [
        ("bytes read", 16384), ("bytes written", 16384), ("peak live bytes", 14336),
    ]  # fmt: skip
    assert all(delta.more for delta in found.deltas)

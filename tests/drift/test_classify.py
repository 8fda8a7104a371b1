"""Each kind of edit is one change of its class, whichever of the two graphs is the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from guard.drift.classify import changes
from guard.ir.canonical import equal
from guard.ir.parser import parse_program

if TYPE_CHECKING:
    from guard.ir.graph import Program

HEAD = "guard-graph 1\ncheck a::b\ntracer make_fx(tracing_mode=real)\n"
STEP = """
graph main(%x: f32[4], %y: f32[4], buffer %z: f32[4]) -> (f32[4], f32[4]) {
  %0: f32[4] = aten.sub.Tensor(%x, %y)
  %1: f32[4] = aten.mul.Tensor(%0, 2)
  %2: f32[4] = aten.sin.default(%1)
  %3: f32[4] = aten.bernoulli.p(%2, 0.5) {rng cpu}
  %4: f32[4] = aten.rand.default([4]) {rng cpu}
  %5: f32[4] = _c10d_functional.all_reduce.default(%4, "sum", group(0, 1)) {comm 0, 1}
  %6: f32[4] = _c10d_functional.wait_tensor.default(%5)
  %7: f32[4] = constant([1.0, 2.0, 3.0, 4.0])
  %8: f32[4] = aten.add.Tensor(%6, %7)
  _: f32[4] = aten.copy_.default(%z, %8) {write %z, alias %z}
  return %3, %8
}
"""
SYMBOLIC = """
graph main(%x: f32[s0, s1], %y: f32[s1]) -> (f32[s0, s1]) {
  where s1 in [2, 64]
  %0: SymInt(s0) = aten.sym_size.int(%x, 0)
  %1: f32[s0, s1]{0, 1} = aten.expand.default(%y, [%0, -1]) {alias %y}
  %2: f32[s0, s1] = aten.add.Tensor(%1, %x)
  return %2
}
"""
CONSTANT = """
graph main(%x: f32[3, s0], %y: f32[s0]) -> (f32[3, s0]) {
  where s0 in [2, 64]
  %0: f32[3, s0]{0, 1} = aten.expand.default(%y, [3, -1]) {alias %y}
  %1: f32[3, s0] = aten.add.Tensor(%0, %x)
  return %1
}
"""


class Case(NamedTuple):
    """One edit of a graph's text, and what is to be said of it."""

    kind: str
    title: str
    old: str
    new: str
    graph: str = STEP


CASES = {
    "operator": Case("structure", "mul -> div", "mul.Tensor", "div.Tensor"),
    "overload": Case("structure", "aten.mul.Tensor -> aten.mul.Scalar", "mul.Tensor", "mul.Scalar"),
    "operands": Case("structure", "sub: operands swapped", "(%x, %y)", "(%y, %x)"),
    "rewired": Case("structure", "mul: other operands", "mul.Tensor(%0, 2)", "mul.Tensor(%y, 2)"),
    "tag": Case("structure", "sin: none -> #backward", "sin.default(%1)", "sin.default(%1) #backward"),
    "added": Case(
        "structure",
        "+1 node: clone",
        "  %2: f32[4] = aten.sin.default(%1)",
        "  %c: f32[4] = aten.clone.default(%1)\n  %2: f32[4] = aten.sin.default(%c)",
    ),
    "split up": Case(
        "structure",
        "sub -> neg + add",
        "  %0: f32[4] = aten.sub.Tensor(%x, %y)",
        "  %c: f32[4] = aten.neg.default(%y)\n  %0: f32[4] = aten.add.Tensor(%x, %c)",
    ),
    "literal": Case("constant", "mul: 2 -> 3", "(%0, 2)", "(%0, 3)"),
    "literal's type": Case("constant", "mul: 2 -> 2.0", "(%0, 2)", "(%0, 2.0)"),
    "constant": Case("constant", "constant: [1.0, 2.0, 3.0, 4.0] -> [1.0, 2.0, 3.0, 5.0]", "4.0]", "5.0]"),
    "dtype": Case("type", "sub: f32[4] -> f16[4]", "%0: f32[4]", "%0: f16[4]"),
    "stride": Case("type", "sub: f32[4] -> f32[4]{2}", "%0: f32[4]", "%0: f32[4]{2}"),
    "device": Case("type", "sub: f32[4] -> f32[4]@cuda:0", "%0: f32[4]", "%0: f32[4]@cuda:0"),
    "copy_": Case("mutation", "-1 node: copy_", "  _: f32[4] = aten.copy_.default(%z, %8) {write %z, alias %z}\n", ""),
    "another buffer": Case(
        "mutation", "copy_", "copy_.default(%z, %8) {write %z, alias %z}", "copy_.default(%y, %8) {write %y, alias %y}"
    ),
    "alias": Case("mutation", "sin: other effects", "sin.default(%1)", "sin.default(%1) {alias %1}"),
    "input's alias": Case("mutation", "%y: f32[4] -> %y: f32[4] alias %x", "%y: f32[4]", "%y: f32[4] alias %x"),
    "output's alias": Case(
        "mutation", "return %8: f32[4] -> return alias %x %8: f32[4]", "f32[4]) {", "alias %x: f32[4]) {"
    ),
    "group": Case("collective", "all_reduce: group(0, 1) -> group(0, 1, 2)", "group(0, 1)", "group(0, 1, 2)"),
    "no wait": Case(
        "collective",
        "-1 node: wait_tensor",
        "  %6: f32[4] = _c10d_functional.wait_tensor.default(%5)\n",
        "",
    ),
    "role": Case("signature", "%y: f32[4] -> buffer %y: f32[4]", " %y: f32[4]", " buffer %y: f32[4]"),
    "requires_grad": Case(
        "signature", "return %8: f32[4] -> return %8: f32[4] requires_grad", "f32[4]) {", "f32[4] requires_grad) {"
    ),
    "output": Case("signature", "return %8: f32[4] -> return %6: f32[4]", "return %3, %8", "return %3, %6"),
    "pytree": Case("signature", "outputs flat -> outputs [*, *]", "{\n", "{\n  outputs [*, *]\n"),
    "order": Case(
        "order",
        "rand + bernoulli: moved over a conflicting effect",
        "  %3: f32[4] = aten.bernoulli.p(%2, 0.5) {rng cpu}\n  %4: f32[4] = aten.rand.default([4]) {rng cpu}\n",
        "  %4: f32[4] = aten.rand.default([4]) {rng cpu}\n  %3: f32[4] = aten.bernoulli.p(%2, 0.5) {rng cpu}\n",
    ),
    "constraint": Case("specialization", "", "where s1 in [2, 64]", "where s1 in [4, 64]", SYMBOLIC),
    "constant size": Case("specialization", "s0 -> 3", SYMBOLIC, CONSTANT, SYMBOLIC),
    "dead detach": Case(
        "proxy-leak",
        "+2 nodes: 2 detach",
        "  %2: f32",
        "  %c: f32[4] = aten.detach.default(%1) {alias %1}\n"
        "  _: f32[4] = aten.detach.default(%c) {alias %c}\n  %2: f32",
    ),
    "dead copy": Case("proxy-leak", "+1 node: sin", "  %2: f32", "  _: f32[4] = aten.sin.default(%1)\n  %2: f32"),
}


def program(graph: str) -> Program:
    return parse_program(HEAD + graph)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_edit_is_one_change_of_its_class(case: Case) -> None:
    assert case.old in case.graph
    edited = case.graph.replace(case.old, case.new, 1)
    baseline, current = program(case.graph), program(edited if "%6: " in edited else edited.replace("%6", "%5"))

    found = changes(baseline, current)

    assert [change.kind for change in found] == [case.kind]
    assert case.title in found[0].title
    assert [change.kind for change in changes(current, baseline)] == [case.kind]


def test_what_follows_from_a_type_is_counted_with_it() -> None:
    text = STEP.replace("%0: f32[4]", "%0: f16[4]").replace("%1: f32[4]", "%1: f16[4]").replace("%2: f32", "%2: f16")

    (change,) = changes(program(STEP), program(text))

    assert change.title == "sub: f32[4] -> f16[4], and 2 nodes after it"
    assert sum(line.startswith("+ ") for line in change.lines) == 1


def test_what_follows_from_an_input_is_counted_with_it() -> None:
    text = STEP.replace("%x: f32[4]", "%x: f16[4]").replace("%0: f32[4]", "%0: f16[4]")

    (change,) = changes(program(STEP), program(text))

    assert (change.kind, change.title) == ("signature", "%x: f32[4] -> %x: f16[4], and 1 node after it")


def test_the_same_change_in_many_places_is_one() -> None:
    layers = "".join(f"  %{i + 1}: f32[4] = aten.relu.default(%{i})\n" for i in range(12))
    text = f"\ngraph main(%0: f32[4]) -> (f32[4]) {{\n{layers}  return %12\n}}\n"

    (change,) = changes(program(text), program(text.replace("relu", "gelu")))

    assert change.title == "relu -> gelu, 12 times"


def test_unrelated_changes_are_told_apart_most_telling_first() -> None:
    text = STEP.replace("mul.Tensor(%0, 2)", "mul.Tensor(%0, 3)").replace("aten.add", "aten.div")
    text = text.replace("buffer %z", "%z")

    found = changes(program(STEP), program(text))

    assert [(change.kind, change.title) for change in found] == [
        ("signature", "buffer %z: f32[4] -> %z: f32[4]"),
        ("constant", "mul: 2 -> 3"),
        ("structure", "add -> div"),
    ]


def test_a_placement_is_a_signature_though_no_node_moves() -> None:
    text = "\ngraph main(%x: dt<f32[8], mesh(2), [R]> local f32[8]) -> (f32[8]) {\n  return %x\n}\n"

    (change,) = changes(program(text), program(text.replace("[R]", "[P(sum)]")))

    assert change.kind == "signature"
    assert change.lines == (
        "- %x: dt<f32[8], mesh(2), [R]> local f32[8]",
        "+ %x: dt<f32[8], mesh(2), [P(sum)]> local f32[8]",
    )


def test_bodies_are_compared_by_use_and_their_names_do_not_count() -> None:
    text = (
        "\ngraph main(%x: f32[4]) -> (f32[4]) {\n  %0: f32[4] = hop(@b, %x) {barrier}\n  return %0\n}\n"
        "\nbody b(%x: f32[4]) -> (f32[4]) {\n  %0: f32[4] = aten.sin.default(%x)\n  return %0\n}\n"
    )
    renamed = text.replace("@b", "@c").replace("body b", "body c")

    assert changes(program(text), program(renamed)) == ()
    (change,) = changes(program(text), program(renamed.replace("sin", "cos")))
    assert (change.kind, change.title) == ("structure", "sin -> cos")


def test_graph_breaks_tell_of_the_graphs_that_they_made() -> None:
    whole = (
        "\ngraph main(%x: f32[4]) -> (f32[4]) {\n  %0: f32[4] = aten.sin.default(%x)\n"
        "  %1: f32[4] = aten.cos.default(%0)\n  return %1\n}\n"
    )
    halves = (
        'break "call to print" at "print(x)"\n'
        "\ngraph main(%x: f32[4]) -> (f32[4]) {\n  %0: f32[4] = aten.sin.default(%x)\n  return %0\n}\n"
        "\ngraph main_1(%x: f32[4]) -> (f32[4]) {\n  %0: f32[4] = aten.cos.default(%x)\n  return %0\n}\n"
    )

    (change,) = changes(program(whole), program(halves))

    assert (change.kind, change.title) == ("specialization", "+1 graph break")
    assert change.lines[0] == '+ break "call to print" at print(x)'


def test_equal_calls_that_share_other_values_are_told_by_their_text() -> None:
    text = (
        "\ngraph main(%x: f32[4]) -> (f32[4], f32[4], f32[4]) {{\n  %0: f32[4] = f(%x)\n  %1: f32[4] = f(%x)\n"
        "  %2: f32[4] = g(%0)\n  %3: f32[4] = h({})\n  %4: f32[4] = k(%1)\n  return %2, %3, %4\n}}\n"
    )
    one, other = program(text.format("%0")), program(text.format("%1"))
    assert not equal(one, other)

    (change,) = changes(one, other)

    assert (change.kind, change.title) == ("structure", "equal calls share other values")
    assert "+ %3: f32[4] = h(%1)" in change.lines


def test_a_changed_tracer_is_a_signature() -> None:
    other = HEAD.replace("real", "fake") + STEP

    assert [change.kind for change in changes(program(STEP), parse_program(other))] == ["signature"]

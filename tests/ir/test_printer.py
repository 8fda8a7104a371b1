from __future__ import annotations

from dataclasses import replace

import pytest

from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import print_expr
from guard.ir.graph import CaptureError, Event, Graph, Input, Node, Output, Program, Ref, Result
from guard.ir.parser import parse_program
from guard.ir.printer import print_graph, print_node, print_program, print_type
from guard.ir.types import DTensorType, Mesh, ScalarType, SubclassType, TensorType

EVERYTHING = r"""guard-graph 1
check nested_trace::expand_in_function_mode[real-symbolic]
tracer make_fx(tracing_mode=real)
break "call to builtin print" at "print(x)"
recompile "size mismatch"

graph joint(
  parameter %fc.weight: f32[4, 4] requires_grad also "head.weight", "t\u00eate",
  buffer %bn.running_mean: f32[4],
  %x: f32[s0, 4]{1, s0} requires_grad alias %bn.running_mean,
  tangent %tangent_0: f32[s0*2, 4]{4, 1}+(s0*2)@cuda:0 layout(sparse_coo),
  %n: int(3),
  %k: SymInt(s0),
  %flag: bool(True),
  %none: None,
  %w: dt<f32[8, 4], mesh(2), [S(0)]> local f32[4, 4] requires_grad,
  %v: dt<f32[8, 4], mesh(2, ranks=[1, 3]), [R, "_StridedShard(dim=0, sf=2)"]> local (f32[4, 4] requires_grad),
  %t: TwoTensor<f32[3, 4]>.a of f32[3, 4],
  %"odd name": list(dtype(quint8)[2], ?, opaque("X"), complex(1.0, -0.0))
) -> (
  f32[s0, 4],
  grad %fc.weight: f32[4, 4],
  mutated %bn.running_mean: f32[4],
  alias %x: f32[4],
  grad "elsewhere": f32[4],
  None,
  literal
) {
  where s0 in [2, 64], s0 % 8 == 0, s0 - 1 <= max(s0*2, 4), not ((s0 + 1) // 2 > 5 or s0 == 3)
  inputs ((*, {"x": *}), {})
  outputs {"loss": *, "aux": [*, Point(*, None)]}
  device cuda:0
  %0: f32[1, 3, 4]{0, 0, 1} = aten.expand.default(%x, [1, 3, 4]) {alias %x}
  %1: f32[2], _: f32[2], %2: f32[2] = aten.native_layer_norm.default(%0, s0*2 + 1, f32, dtype=f16) #backward #recompute
  aten._assert_async.default(%0) {barrier}
  _: ? = "my mod.fn"(@body_1, group(0, 1), slice(None, 2, None), {"a": 1, "b": [%1, nan, -inf, -0.0]}) {write %x, rng cpu, comm 0, 1, mode}
  %3: i64[20] = constant([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20
  ])
  %4: i64[2] = constant(digest("sha256:00"), opaque("Foo"), sym("u8"), u8 + 1, dtype(quint8), layout(strided), "\ud83d\U0001f600\n")
  return %0, %1, %2, %0, %4, None, 3
}

body body_1(%a: f32[2]) -> (f32[2]) {
  return %a
}
"""  # noqa: E501 - as printed: a node is one line, however long


def test_every_construct_prints_as_documented() -> None:
    assert print_program(parse_program(EVERYTHING)) == EVERYTHING


def test_the_example_of_the_grammar() -> None:
    view = TensorType("f32", (1, 3, 4), (0, 0, 1))
    node = Node((Result("0", view),), "aten.expand.default", (Ref("b"), (1, 3, 4)), source="test_nested_trace.py:31")
    inputs = (Input("a", TensorType("f32", (3, 4))), Input("b", TensorType("f32", (4,))))
    graph = Graph("main", inputs, (node,), (Output(Ref("0"), view),))
    wanted = """\
graph main(%a: f32[3, 4], %b: f32[4]) -> (f32[1, 3, 4]{0, 0, 1}) {
  %0: f32[1, 3, 4]{0, 0, 1} = aten.expand.default(%b, [1, 3, 4])
  return %0
}"""
    assert print_graph(graph) == wanted
    assert print_node(node) == "%0: f32[1, 3, 4]{0, 0, 1} = aten.expand.default(%b, [1, 3, 4])"


def test_an_error_stands_in_place_of_graphs() -> None:
    error = CaptureError("untracked-proxy", "s is not tracked with proxy", "0123456789ab", "return make_fx(f)(x)")
    assert print_program(Program("c", "t", error=error)) == (
        'guard-graph 1\ncheck c\ntracer t\nerror untracked-proxy\nline "s is not tracked with proxy"\n'
        'code "return make_fx(f)(x)"\nfingerprint 0123456789ab\n'
    )


def test_what_is_for_messages_alone_does_not_print() -> None:
    node = Node((), "f", ())
    plain = Program("c", "t", (Graph("main", (), (node,), ()),), events=(Event("break", "r", "x"),))
    graph = Graph("main", (), (node._replace(source="a.py:1"),), ())
    carried = replace(plain, graphs=(graph,), events=(Event("break", "r", "x", "a.py:1"),), partial=graph)
    assert print_program(carried) == print_program(plain)


def test_a_program_without_graphs_says_so() -> None:
    text = print_program(Program("c", "t"))
    assert text == "guard-graph 1\ncheck c\ntracer t\nno graphs\n"
    assert parse_program(text) == Program("c", "t")


def test_a_node_is_one_line_however_long_its_lists() -> None:
    node = Node((), "f", ((tuple(range(40)), "a,\nb"),))
    numbers = ", ".join(map(str, range(40)))
    assert print_node(node) == f'f([[{numbers}], "a,\\nb"])'


@pytest.mark.parametrize(("width", "lines"), [(100, 1), (101, 4)])
def test_a_signature_is_one_line_up_to_100_columns(width: int, lines: int) -> None:
    fixed = len("graph (%a: f32[], %b: f32[]) -> () {")
    name = "m" * (width - fixed)
    graph = Graph(name, tuple(Input(name, TensorType("f32", ())) for name in "ab"), (), ())
    assert print_graph(graph).splitlines().index("  return") == lines


def test_outputs_have_a_line_each_where_their_line_is_too_long() -> None:
    value = Output(Ref("x"), TensorType("f32", (4, 4)))
    for count, lines in (
        (8, [") -> (" + ", ".join(["f32[4, 4]"] * 8) + ") {"]),
        (9, [") -> (", *["  f32[4, 4],"] * 8]),
    ):
        graph = Graph("main", (Input("x", TensorType("f32", (4, 4))),), (), (value,) * count)
        printed = print_graph(graph).splitlines()
        assert printed[:2] == ["graph main(", "  %x: f32[4, 4]"]
        assert printed[2 : 2 + len(lines)] == lines


@pytest.mark.parametrize("word", ["return", "where", "inputs", "outputs", "device", "_", "my mod.fn", "3d", "", "é"])
def test_words_that_would_be_read_as_something_else_are_quoted(word: str) -> None:
    graph = Graph("main", (), (Node((), word, ()), Node((), "f", (), (("x y", 1), ("inf", 2)))), ())
    program = Program("c", "t", (graph,))
    assert f'  "{word}"()'.replace("é", "\\u00e9") in print_graph(graph)
    assert parse_program(print_program(program)) == program


def test_requires_grad_of_a_wrapper_stands_behind_the_whole() -> None:
    outer, inner = TensorType("f32", (4,), requires_grad=True), TensorType("f32", (2,))
    assert print_type(DTensorType(outer, Mesh((2,)), ("S(0)",), inner)) == (
        "dt<f32[4], mesh(2), [S(0)]> local f32[2] requires_grad"
    )
    assert print_type(SubclassType("Two", outer, "a", inner)) == "Two<f32[4]>.a of f32[2] requires_grad"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "SymInt(1)"), (1.0, "SymInt(1.0)"), (True, "SymInt(True)"), (-0.0, "SymInt(-0.0)"), (None, "SymInt")],
)
def test_scalars_are_type_strict(value: float | None, text: str) -> None:
    assert print_type(ScalarType("SymInt", value)) == text


S0, S1 = Symbol("s0"), Symbol("s1")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Apply("+", (1, Apply("*", (2, S0)))), "s0*2 + 1"),
        (Apply("+", (S1, S0)), "s0 + s1"),
        (Apply("+", (S0, -1)), "s0 - 1"),
        (Apply("*", (Apply("+", (S0, 1)), S1)), "(s0 + 1)*s1"),
        (Apply("//", (Apply("*", (S0, 2)), 8)), "(s0*2) // 8"),
        (Apply("max", (4, S0)), "max(s0, 4)"),
        (Apply("==", (0, Apply("%", (S0, 8)))), "s0 % 8 == 0"),
        (Apply("<", (4, S0)), "4 < s0"),
        (Apply("in", (S0, 2, float("inf"))), "s0 in [2, inf]"),
        (Symbol("odd"), 'sym("odd")'),
    ],
)
def test_expressions_print_in_one_order(expr: Apply | Symbol, text: str) -> None:
    assert print_expr(expr) == text

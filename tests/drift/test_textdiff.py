"""Only what differs is shown, however the values are numbered."""

from __future__ import annotations

import time
from dataclasses import replace

from guard.drift.textdiff import diff, shorten
from guard.ir.graph import Event, Graph, Input, Node, Output, Program, Ref, Result
from guard.ir.types import TensorType

F32 = TensorType("f32", (4,))


def program(*ops: str, inputs: tuple[str, ...] = ("x",), tracer: str = "make_fx(tracing_mode=real)") -> Program:
    """A chain: each operation takes the one before; ``op:name`` takes an input of that name too."""
    nodes: list[Node] = []
    last = inputs[0]
    for number, op in enumerate(ops):
        target, _, other = op.partition(":")
        args = (Ref(last), *((Ref(other),) if other else ()))
        nodes.append(Node((Result(str(number), F32),), f"aten.{target}.default", args, source=f"checks/a.py:{number}"))
        last = str(number)
    graph = Graph("main", tuple(Input(name, F32) for name in inputs), tuple(nodes), (Output(Ref(last), F32),))
    return Program("a::b", tracer, (graph,))


def test_equal_programs_have_no_lines() -> None:
    assert diff(program("sin", "cos"), program("sin", "cos")).lines == ()


def test_an_inserted_operation_is_one_line_though_all_that_follow_are_renumbered() -> None:
    after = Program("a::b", "make_fx(tracing_mode=real)", (insert_unused(program(*["sin"] * 10).graphs[0], 1),))
    found = diff(program(*["sin"] * 10), after)
    assert (found.added, found.removed, found.title) == (1, 0, "+1 node")
    assert [line for line in found.lines if not line.startswith("  ")] == [
        "+ %1: f32[4] = aten.detach.default(%0)  checks/a.py:99"
    ]


def insert_unused(graph: Graph, at: int) -> Graph:
    """Put a dead operation before the operation ``at``, and number the values anew."""
    names = {str(number): str(number + (number >= at)) for number in range(len(graph.nodes))}

    def renamed(node: Node) -> Node:
        args = tuple(Ref(names.get(arg.name, arg.name)) if isinstance(arg, Ref) else arg for arg in node.args)
        return node._replace(results=(Result(names[node.results[0].name or ""], F32),), args=args)

    nodes = [renamed(node) for node in graph.nodes]
    nodes.insert(at, Node((Result(str(at), F32),), "aten.detach.default", (Ref(str(at - 1)),), source="checks/a.py:99"))
    return replace(graph, nodes=tuple(nodes), outputs=(Output(Ref(names[str(len(graph.nodes) - 1)]), F32),))


def test_a_replaced_operation_shows_both_and_two_rows_around() -> None:
    found = diff(program("sin", "cos", "tan", "exp", "log", "neg"), program("sin", "cos", "tan", "abs", "log", "neg"))
    assert found.title == "+2 -2 nodes"
    assert found.lines == (
        "  %1: f32[4] = aten.cos.default(%0)",
        "  %2: f32[4] = aten.tan.default(%1)",
        "- %3: f32[4] = aten.exp.default(%2)",
        "- %4: f32[4] = aten.log.default(%3)",
        "+ %3: f32[4] = aten.abs.default(%2)  checks/a.py:3",
        "+ %4: f32[4] = aten.log.default(%3)  checks/a.py:4",
        "  %5: f32[4] = aten.neg.default(%4)",
        "  return %5",
    )


def test_changes_far_apart_are_two_places() -> None:
    before, after = ["sin"] * 30, ["sin"] * 30
    after[3], after[25] = "cos", "tan"
    lines = diff(program(*before), program(*after)).lines
    assert lines.count("  ...") == 1
    assert len(lines) < 20


def test_a_signature_that_differs_moves_no_node() -> None:
    found = diff(program("sin"), program("sin", inputs=("x", "y")))
    assert found.title == "signature or header differs"
    assert [line for line in found.lines if line[0] in "+-"] == [
        "- graph main(%x: f32[4]) -> (f32[4]) {",
        "+ graph main(%x: f32[4], %y: f32[4]) -> (f32[4]) {",
    ]


def test_a_tracer_and_an_event_that_differ_are_shown() -> None:
    after = replace(program("sin", tracer="make_fx(tracing_mode=fake)"), events=(Event("break", "print", "print(x)"),))
    lines = diff(program("sin"), after).lines
    assert "- tracer make_fx(tracing_mode=real)" in lines
    assert "+ tracer make_fx(tracing_mode=fake)" in lines
    assert '+ break "print" at "print(x)"' in lines


def test_wiring_between_equal_operations_falls_back_to_the_plain_lines() -> None:
    before = program("sin", "sin", "neg")
    nodes = before.graphs[0].nodes
    rewired = replace(before.graphs[0], nodes=(*nodes[:2], nodes[2]._replace(args=(Ref("0"),))))
    lines = diff(before, replace(before, graphs=(rewired,))).lines
    assert "- %2: f32[4] = aten.neg.default(%1)" in lines
    assert any(line.startswith("+ %2: f32[4] = aten.neg.default(%0)") for line in lines)


def test_long_differences_are_cut_and_say_how_to_see_the_rest() -> None:
    lines = shorten(tuple(map(str, range(50))), 'guard show "a::b" --pending')
    assert lines[-1] == '... 10 more lines: guard show "a::b" --pending'
    assert len(lines) == 41
    assert shorten(("a",), "unused") == ("a",)


def test_ten_thousand_operations_with_changes_at_both_ends_take_no_minute() -> None:
    before, after = ["sin", "cos"] * 5000, ["sin", "cos"] * 5000
    after[10], after[-10] = "tan", "tan"
    started = time.perf_counter()
    found = diff(program(*before), program(*after))
    assert time.perf_counter() - started < 20  # seconds; it takes 0.5, quadratic time would take minutes
    assert (found.added, found.removed) == (4, 4)

"""A baseline is somebody's pull request: what it names is looked up in closed sets, and never evaluated."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from guard.cost.paired import line_of
from guard.ir.expr import Apply, Symbol
from guard.ir.graph import Body, Graph, Input, Node, Output, Program, Ref, Result
from guard.ir.parser import parse_program
from guard.ir.printer import print_node
from guard.ir.rebuild.build import MAX_NODES, Source, rebuild
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.types import TensorType

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%x: f32[4]) -> (f32[4]) {\n"
F32 = TensorType("f32", (4,))
SIN = Node((Result("0", F32),), "aten.sin.default", (Ref("x"),))
PLAIN = Graph("main", (Input("x", F32),), (SIN,), (Output(Ref("0"), F32),))


def refusal(program: Program, **source: frozenset[str]) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        rebuild(program, program.graphs[0], Source(**source))  # type: ignore[arg-type]  # namespaces alone
    return caught.value


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ('%0: f32[4] = os.system("touch planted")', 'unknown target "os.system"'),
        ('%0: f32[4] = builtins.eval("1")', 'unknown target "builtins.eval"'),
        ("%0: f32[4] = nowhere.add.Tensor(%x, %x)", 'unknown target "nowhere.add.Tensor"'),
        ("%0: f32[4] = aten.nothing.default(%x)", 'no operator "aten.nothing.default"'),
        ('%0: f32[4] = aten.save.default(%x, "planted")', 'no operator "aten.save.default"'),
        ('%0: f32[4] = aten.from_file.default("planted", True, 4)', "opens files"),
        ('%0: f32[4] = aten._print.default("x")', "does more than compute"),
        ('%0: f32[4] = operator.attrgetter("__class__")', 'unknown target "operator.attrgetter"'),
        ("%0: f32[4] = operator.call(%x)", 'unknown target "operator.call"'),
        ("%0: f32[4] = torch.sym_it.os(%x)", 'unknown target "torch.sym_it.os"'),
        ("%0: f32[4] = higher_order.print(%x)", '"higher_order.print" is not rebuilt'),
        ("%0: f32[4] = call_method.backward(%x)", 'unknown target "call_method.backward"'),
        ('%0: f32[4] = constant("planted")', "wanted numbers"),
        ('%0: f32[4] = constant(digest("../planted"))', "has no bytes"),
        ('%0: f32[4] = constant(digest("no-bytes"))', "has no bytes"),
        ("%0: f32[4] = constant([1.0, 2.0])", "wanted a constant of shape"),
        ('%0: f32[4] = aten.sin.default(opaque("Module"))', "opaque"),
        ("%0: f32[4] = aten.sin.default(%x, planted=1)", 'unknown keyword "planted"'),
        ("%0: f32[4] = operator.add(%x, %x, planted=1)", 'unknown keyword "planted"'),
        ("%0: f32[4] = _c10d_functional.all_reduce.default(%x) {comm 0, 1}", "collectives"),
    ],
)
def test_a_node_outside_of_the_closed_sets_is_refused_with_its_line(
    node: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "system", lambda _: pytest.fail("evaluated"))
    monkeypatch.chdir(tmp_path)
    text = f"{HEAD}  {node}\n  return %0\n}}\n"

    found = refusal(parse_program(text))

    assert reason in found.reason
    assert found.node is not None
    assert line_of(text, print_node(found.node)) == 6
    assert not list(tmp_path.iterdir())


def test_names_are_never_code() -> None:
    code = 'x, y=__import__("os").abort()'
    keyword = replace(PLAIN, nodes=(SIN._replace(kwargs=((code, 1),)),))
    assert "unknown keyword" in refusal(Program("c", "t", (keyword,))).reason

    # a placeholder's name goes into the code that fx generates: "self_1" stays, which hides nothing
    for name in (code, "self", "torch", "self_1"):
        graph = replace(PLAIN, inputs=(Input(name, F32),), nodes=(SIN._replace(args=(Ref(name),)),))
        made = rebuild(Program("c", "t", (graph,)), graph)
        assert "abort" not in made.code
        assert "sin" in made.code


def test_a_million_nodes_are_refused_before_any_is_built() -> None:
    many = replace(PLAIN, nodes=(SIN,) * 10**6)

    assert refusal(Program("c", "t", (many,))).reason == f"1000000 nodes, wanted at most {MAX_NODES}"


def test_bodies_that_double_are_counted_as_they_would_run() -> None:
    call = Node((Result("0", F32),), "higher_order.cond", (Ref("x"), Body("b0"), Body("b0"), ()))
    bodies = [
        replace(PLAIN, name=f"b{i}", nodes=(call._replace(args=(Ref("x"), *(Body(f"b{i + 1}"),) * 2, ())),))
        for i in range(40)
    ]
    program = Program("c", "t", (replace(PLAIN, nodes=(call,)),), (*bodies, replace(PLAIN, name="b40")))

    assert "nodes, wanted at most" in refusal(program).reason


def test_bodies_that_nest_too_deep_are_refused() -> None:
    call = Node((Result("0", F32),), "higher_order.cond", (Ref("x"), Body("b0")))
    chain = [
        replace(PLAIN, name=f"b{i}", nodes=(call._replace(args=(Ref("x"), Body(f"b{i + 1}"))),)) for i in range(5000)
    ]
    program = Program("c", "t", (replace(PLAIN, nodes=(call,)),), (*chain, replace(PLAIN, name="b5000")))

    assert refusal(program).reason == "its bodies nest too deep"


def test_a_namespace_of_current_is_let_in_but_what_is_not_registered_is_not() -> None:
    graph = replace(PLAIN, nodes=(SIN._replace(target="mylib.op.default"),))
    program = Program("c", "t", (graph,))

    assert "unknown target" in refusal(program).reason
    allowed = frozenset(("mylib",))
    assert refusal(program, namespaces=allowed).reason == 'no operator "mylib.op.default" is registered here'


@pytest.mark.parametrize("function", ["**", "lshift", "//", "%", "nothing"])
def test_a_size_that_is_no_size_is_refused(function: str) -> None:
    by = 0 if function in {"//", "%"} else 10**9
    with pytest.raises(RefusedError):
        value_of(Apply(function, (2, Symbol("s0"))), {"s0": by})

from __future__ import annotations

from dataclasses import replace

import pytest

from guard.ir.canonical import canonical, equal
from guard.ir.graph import CaptureError, Event, Graph, Program
from guard.ir.parser import parse_program

HEADER = "guard-graph 1\ncheck c\ntracer t\n"


def graph(body: str, signature: str = "(%a: f32[4], %b: f32[4]) -> (f32[4])", rest: str = "") -> Program:
    return parse_program(f"{HEADER}graph main{signature} {{\n{body}\n}}\n{rest}")


EQUAL = {
    "renamed values": (
        graph("%0: f32[4] = f(%a)\nreturn %0"),
        graph("%x: f32[4] = f(%p)\nreturn %x", "(%p: f32[4], %q: f32[4]) -> (f32[4])"),
    ),
    "labels": (
        graph("return %a", '(%a: f32[4] also "x", %b: f32[4]) -> (f32[4])'),
        graph("return %a", "(%a: f32[4], %b: f32[4]) -> (f32[4])"),
    ),
    "pure nodes in another order": (
        graph("%0: f32[4] = f(%a)\n%1: f32[4] = g(%b)\n%2: f32[4] = h(%0, %1)\nreturn %2"),
        graph("%0: f32[4] = g(%b)\n%1: f32[4] = f(%a)\n%2: f32[4] = h(%1, %0)\nreturn %2"),
    ),
    "dead nodes in another order": (
        graph("%0: f32[4] = f(%a)\n%1: f32[4] = g(%b)\nreturn %a"),
        graph("%0: f32[4] = g(%b)\n%1: f32[4] = f(%a)\nreturn %a"),
    ),
    "dead nodes that share an operand, in another order": (
        graph("%0: f32[] = p()\n%1: f32[] = p()\nf(%0)\nf(%0)\nf(%1)\nreturn %a"),
        graph("%0: f32[] = p()\n%1: f32[] = p()\nf(%1)\nf(%0)\nf(%1)\nreturn %a"),
    ),
    "draws of two generators": (
        graph("%0: f32[4] = f() {rng cpu}\n%1: f32[4] = g() {rng cuda:0}\nreturn %0"),
        graph("%1: f32[4] = g() {rng cuda:0}\n%0: f32[4] = f() {rng cpu}\nreturn %0"),
    ),
    "writes to two storages": (
        graph("f(%a) {write %a}\ng(%b) {write %b}\nreturn %a"),
        graph("g(%b) {write %b}\nf(%a) {write %a}\nreturn %a"),
    ),
    "names of symbols": (
        graph("%0: f32[s0*2] = f(%a, s0 + s1)\nreturn %0", "(%a: f32[s0], %b: f32[s1]) -> (f32[s0*2])"),
        graph("%0: f32[s5*2] = f(%a, s5 + s3)\nreturn %0", "(%a: f32[s5], %b: f32[s3]) -> (f32[s5*2])"),
    ),
    "names of symbols that first meet in a sum": (
        graph("return %c", "(%a: f32[s0 + s1], %b: f32[s0], %c: f32[s1]) -> (f32[s1])"),
        graph("return %c", "(%a: f32[s0 + s1], %b: f32[s1], %c: f32[s0]) -> (f32[s0])"),
    ),
    "names of symbols in dead nodes": (
        graph("%0: SymInt(u0) = f(%a)\n%1: SymInt(u1) = g(%a)\nh(u1)\nreturn %a"),
        graph("%0: SymInt(u0) = g(%a)\n%1: SymInt(u1) = f(%a)\nh(u0)\nreturn %a"),
    ),
    "constraints in another order": (
        graph("where s0 % 8 == 0, s1 in [2, 8]\nreturn %a", "(%a: f32[s0], %b: f32[s1]) -> (f32[s0])"),
        graph("where s1 in [2, 8], s0 % 8 == 0\nreturn %a", "(%a: f32[s0], %b: f32[s1]) -> (f32[s0])"),
    ),
    "names of bodies": (
        graph("%0: f32[4] = cond(%a, @x)\nreturn %0", rest="body x() -> () {\nreturn\n}\n"),
        graph("%0: f32[4] = cond(%a, @y)\nreturn %0", rest="body y() -> () {\nreturn\n}\n"),
    ),
    "an unused result's name": (
        graph("%0: f32[4], %1: f32[4] = f(%a)\nreturn %0"),
        graph("%0: f32[4], _: f32[4] = f(%a)\nreturn %0"),
    ),
}

DIFFERENT = {
    "swapped operands": (
        graph("%0: f32[4] = f(%a, %b)\nreturn %0"),
        graph("%0: f32[4] = f(%b, %a)\nreturn %0"),
    ),
    "a shared operand": (
        graph("%0: f32[4] = p(%a)\n%1: f32[4] = p(%a)\n%2: f32[4] = f(%0, %1)\nreturn %2"),
        graph("%0: f32[4] = p(%a)\n%2: f32[4] = f(%0, %0)\nreturn %2"),
    ),
    "another result": (
        graph("%0: f32[4], %1: f32[4] = f(%a)\nreturn %0"),
        graph("%0: f32[4], %1: f32[4] = f(%a)\nreturn %1"),
    ),
    "a dead node": (graph("f(%a)\nreturn %a"), graph("return %a")),
    "a dead node twice": (graph("f(%a)\nf(%a)\nreturn %a"), graph("f(%a)\nreturn %a")),
    "a read moved over a write": (
        graph("%0: f32[4] = f(%a)\nadd_(%a) {write %a}\n%1: f32[4] = g(%0)\nreturn %1"),
        graph("add_(%a) {write %a}\n%0: f32[4] = f(%a)\n%1: f32[4] = g(%0)\nreturn %1"),
    ),
    "a read through a view moved over a write": (
        graph("%0: f32[4] = view(%a) {alias %a}\n%1: f32[4] = f(%0)\nadd_(%a) {write %a}\nreturn %1"),
        graph("%0: f32[4] = view(%a) {alias %a}\nadd_(%a) {write %a}\n%1: f32[4] = f(%0)\nreturn %1"),
    ),
    "a read through an aliased input moved over a write": (
        graph("%1: f32[4] = f(%b)\nadd_(%a) {write %a}\nreturn %1", "(%a: f32[4], %b: f32[4] alias %a) -> (f32[4])"),
        graph("add_(%a) {write %a}\n%1: f32[4] = f(%b)\nreturn %1", "(%a: f32[4], %b: f32[4] alias %a) -> (f32[4])"),
    ),
    "two writes in another order": (
        graph("f(%a) {write %a}\ng(%a) {write %a}\nreturn %b"),
        graph("g(%a) {write %a}\nf(%a) {write %a}\nreturn %b"),
    ),
    "a lost write": (graph("f(%a) {write %a}\nreturn %b"), graph("f(%a)\nreturn %b")),
    "draws in another order": (
        graph("%0: f32[4] = f() {rng cpu}\n%1: f32[4] = g() {rng cpu}\nreturn %0"),
        graph("%1: f32[4] = g() {rng cpu}\n%0: f32[4] = f() {rng cpu}\nreturn %0"),
    ),
    "collectives in another order": (
        graph("%0: f32[4] = f() {comm 0, 1}\n%1: f32[4] = g() {comm 0, 2}\nreturn %0"),
        graph("%1: f32[4] = g() {comm 0, 2}\n%0: f32[4] = f() {comm 0, 1}\nreturn %0"),
    ),
    "a node moved over a barrier": (
        graph("%0: f32[4] = f(%a)\nb() {barrier}\nreturn %0"),
        graph("b() {barrier}\n%0: f32[4] = f(%a)\nreturn %0"),
    ),
    "a node moved over a mode change": (
        graph("%0: f32[4] = f(%a)\nb() {mode}\nreturn %0"),
        graph("b() {mode}\n%0: f32[4] = f(%a)\nreturn %0"),
    ),
    "tags": (graph("%0: f32[4] = f(%a) #backward\nreturn %0"), graph("%0: f32[4] = f(%a)\nreturn %0")),
    "a tag's name": (graph("f(%a) #backward\nreturn %a"), graph("f(%a) #recompute\nreturn %a")),
    "keyword's name": (graph("%0: f32[4] = f(x=1)\nreturn %0"), graph("%0: f32[4] = f(y=1)\nreturn %0")),
    "the target": (graph("%0: f32[4] = f(%a)\nreturn %0"), graph("%0: f32[4] = g(%a)\nreturn %0")),
    "result's dtype": (graph("%0: f32[4] = f()\nreturn %0"), graph("%0: f16[4] = f()\nreturn %0")),
    "result's stride": (graph("%0: f32[4] = f()\nreturn %0"), graph("%0: f32[4]{2} = f()\nreturn %0")),
    "unused result's type": (graph("_: f32[4] = f()\nreturn %a"), graph("_: f32[5] = f()\nreturn %a")),
    "symbols that are one": (
        graph("return %a", "(%a: f32[s0], %b: f32[s1]) -> (f32[s0])"),
        graph("return %a", "(%a: f32[s0], %b: f32[s0]) -> (f32[s0])"),
    ),
    "backed and unbacked": (
        graph("return %a", "(%a: f32[s0]) -> (f32[s0])"),
        graph("return %a", "(%a: f32[u0]) -> (f32[u0])"),
    ),
    "a constraint": (
        graph("where s0 <= 8\nreturn %a", "(%a: f32[s0]) -> (f32[s0])"),
        graph("where s0 <= 9\nreturn %a", "(%a: f32[s0]) -> (f32[s0])"),
    ),
    "inputs' order": (
        graph("return %a", "(%a: f32[4], %b: f16[4]) -> (f32[4])"),
        graph("return %a", "(%b: f16[4], %a: f32[4]) -> (f32[4])"),
    ),
    "an input's role": (
        graph("return %a", "(%a: f32[4]) -> (f32[4])"),
        graph("return %a", "(buffer %a: f32[4]) -> (f32[4])"),
    ),
    "an input's alias": (
        graph("return %a", "(%a: f32[4], %b: f32[4]) -> (f32[4])"),
        graph("return %a", "(%a: f32[4], %b: f32[4] alias %a) -> (f32[4])"),
    ),
    "placement": (
        graph("return %a", "(%a: f32[4]) -> (dt<f32[8], mesh(2), [S(0)]> local f32[4])"),
        graph("return %a", "(%a: f32[4]) -> (dt<f32[8], mesh(2), [P(sum)]> local f32[4])"),
    ),
    "outputs' order": (
        graph("return %a, %b", "(%a: f32[4], %b: f32[4]) -> (f32[4], f32[4])"),
        graph("return %b, %a", "(%a: f32[4], %b: f32[4]) -> (f32[4], f32[4])"),
    ),
    "an output's role": (
        graph("return %a", "(%a: f32[4], %b: f32[4]) -> (f32[4])"),
        graph("return %a", "(%a: f32[4], %b: f32[4]) -> (alias %a: f32[4])"),
    ),
    "the input of an output": (
        graph("return %a", "(%a: f32[4], %b: f32[4]) -> (mutated %a: f32[4])"),
        graph("return %a", "(%a: f32[4], %b: f32[4]) -> (mutated %b: f32[4])"),
    ),
    "the outputs' tree": (graph('outputs {"a": *}\nreturn %a'), graph('outputs {"b": *}\nreturn %a')),
    "the inputs' tree": (graph("inputs ((*, *), {})\nreturn %a"), graph("inputs (([*, *],), {})\nreturn %a")),
    "the device": (graph("device cuda:0\nreturn %a"), graph("return %a")),
    "a body's content": (
        graph("f(@x)\nreturn %a", rest="body x() -> () {\nreturn\n}\n"),
        graph("f(@x)\nreturn %a", rest="body x() -> () {\ng()\nreturn\n}\n"),
    ),
    "a nested body's content": (
        graph("f(@x)\nreturn %a", rest="body x() -> () {\nf(@y)\nreturn\n}\nbody y() -> () {\nreturn\n}\n"),
        graph("f(@x)\nreturn %a", rest="body x() -> () {\nf(@y)\nreturn\n}\nbody y() -> () {\ng()\nreturn\n}\n"),
    ),
    "swapped bodies": (
        graph("f(@x, @y)\nreturn %a", rest="body x() -> () {\nreturn\n}\nbody y() -> () {\ng()\nreturn\n}\n"),
        graph("f(@y, @x)\nreturn %a", rest="body x() -> () {\nreturn\n}\nbody y() -> () {\ng()\nreturn\n}\n"),
    ),
    "text that looks like a use": (graph("f(%a)\nreturn %a"), graph('f("%")\nreturn %a')),
}  # fmt: skip


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal(pair: tuple[Program, Program]) -> None:
    assert equal(*pair)


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_different(pair: tuple[Program, Program]) -> None:
    assert not equal(*pair)


LITERALS = (
    *("1", "1.0", "True", "0.0", "-0.0", "nan", "inf", "None", '"1"', "complex(1.0, 0.0)", "complex(1.0, -0.0)", "[1]"),
    *("f32", "layout(strided)", "device(cpu)", "s0", "s1 + s0", "slice(1, None, None)", '{"a": 1}', '["a", 1]'),
    *("group(0, 1)", 'opaque("a")', 'digest("a")'),
)


def test_literals_are_type_strict() -> None:
    signature = "(%a: f32[s0], %b: f32[s1]) -> (f32[4])"
    forms = [repr(canonical(graph(f"f({text})\nreturn %a", signature).graphs[0])) for text in LITERALS]
    assert len(set(forms)) == len(LITERALS)
    assert equal(*(graph("f(nan)\nreturn %a") for _ in range(2)))


def test_gradients_are_of_the_forwards_inputs_by_place() -> None:
    def program(inputs: str, of: str) -> Program:
        forward = f"graph forward({inputs}) -> () {{\nreturn\n}}\n"
        return parse_program(
            f'{HEADER}{forward}graph backward(%g: f32[4]) -> (grad "{of}": f32[4]) {{\nreturn %g\n}}\n'
        )

    wanted = program("%w: f32[4], %b: f32[4]", "w")
    assert equal(wanted, program("%weight: f32[4], %bias: f32[4]", "weight"))
    assert not equal(wanted, program("%w: f32[4], %b: f32[4]", "b"))


def test_programs_compare_tracer_events_and_graphs_names_but_not_the_check() -> None:
    base = Program("c", "t", (Graph("main", (), (), ()),), events=(Event("break", "r", "x", "a.py:1"),))
    assert equal(base, replace(base, check="d", events=(Event("break", "r", "x", "b.py:2"),)))
    assert not equal(base, replace(base, tracer="u"))
    assert not equal(base, replace(base, events=()))
    assert not equal(base, replace(base, events=(Event("recompile", "r", "x"),)))
    assert not equal(base, replace(base, graphs=(Graph("other", (), (), ()),)))


def test_errors_compare_by_kind_and_fingerprint() -> None:
    base = Program("c", "t", error=CaptureError("untracked-proxy", "line", "0" * 12))
    assert equal(base, replace(base, error=CaptureError("untracked-proxy", "reworded", "0" * 12, "f(x)", "a.py:1")))
    assert not equal(base, replace(base, error=CaptureError("other", "line", "0" * 12)))
    assert not equal(base, replace(base, error=CaptureError("untracked-proxy", "line", "1" * 12)))
    assert not equal(base, Program("c", "t"))

"""What follows from one change is not told as another: cases that the sensitivity suite found."""

from __future__ import annotations

import pytest

from guard.drift.classify import changes
from guard.ir.parser import parse_program

HEAD = "guard-graph 1\ncheck a::b\ntracer make_fx(tracing_mode=real)\n\n"


def kinds(before: str, after: str) -> list[str]:
    found = changes(parse_program(HEAD + before), parse_program(HEAD + after))
    return [change.kind for change in found]


def graph(body: str, inputs: str = "%x: f32[4], %y: f32[4]", output: str = "%1: f32[4]") -> str:
    name, _, type_ = output.partition(": ")
    return f"graph main({inputs}) -> ({type_}) {{\n{body}  return {name}\n}}\n"


READS = "  %0: f32[4] = aten.{}\n  %1: f32[4] = aten.cos.default(%x)\n"
WRITE = "  _: f32[4] = aten.copy_.default({0}, {1}) {{write {0}, alias {0}}}\n"

CASES = {
    # what reads %x now stands behind a write: it did not move
    "operator writes its operand": (
        graph(READS.format("sin.default(%x)")),
        graph(READS.format("sin_.default(%x) {write %x, alias %x}")),
        ["mutation"],
    ),
    "write to another input": (
        graph(READS.format("sin.default(%x)") + WRITE.format("%x", "%0") + WRITE.format("%x", "%1")),
        graph(READS.format("sin.default(%x)") + WRITE.format("%y", "%0") + WRITE.format("%x", "%1")),
        ["mutation"],
    ),
    "inputs share storage": (
        graph("  %0: f32[4] = aten.add_.Tensor(%x, 1) {write %x, alias %x}\n  %1: f32[4] = aten.sin.default(%y)\n"),
        graph(
            "  %0: f32[4] = aten.add_.Tensor(%x, 1) {write %x, alias %x}\n  %1: f32[4] = aten.sin.default(%y)\n",
            "%x: f32[4], %y: f32[4] alias %x",
        ),
        ["mutation"],
    ),
    "two symbols are one": (
        graph("  %1: f32[s0, s1] = aten.sin.default(%x)\n", "%x: f32[s0, s1]", "%1: f32[s0, s1]"),
        graph("  %1: f32[s0, s0] = aten.sin.default(%x)\n", "%x: f32[s0, s0]", "%1: f32[s0, s0]"),
        ["specialization"],
    ),
    "one symbol is two": (
        graph("  %1: f32[s0, s0] = aten.sin.default(%x)\n", "%x: f32[s0, s0]", "%1: f32[s0, s0]"),
        graph("  %1: f32[s0, s1] = aten.sin.default(%x)\n", "%x: f32[s0, s1]", "%1: f32[s0, s1]"),
        ["specialization"],
    ),
    # an inner trace of another program than the outer one: its operator has no twin
    "leak of another program": (
        graph("  %1: f32[4] = aten.sin.default(%x)\n"),
        graph(
            "  %0: f32[4] = aten.detach.default(%x) {alias %x}\n"
            "  %2: f32[4] = aten.detach.default(%0) {alias %0}\n"
            "  %3: f32[4] = aten.cos.default(%2)\n"
            "  _: f32[4] = aten.detach.default(%3) {alias %3}\n"
            "  %1: f32[4] = aten.sin.default(%x)\n"
        ),
        ["proxy-leak"],
    ),
    # control: a reorder with nothing else is still told
    "read behind a write": (
        graph(
            "  %1: f32[4] = aten.exp.default(%x)\n  _: f32[4] = aten.mul_.Tensor(%x, 0.5) {write %x, alias %x}\n"
        ),
        graph(
            "  _: f32[4] = aten.mul_.Tensor(%x, 0.5) {write %x, alias %x}\n  %1: f32[4] = aten.exp.default(%x)\n"
        ),
        ["order"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_cause_is_one_change(case: str) -> None:
    before, after, wanted = CASES[case]
    assert kinds(before, after) == wanted


@pytest.mark.parametrize("case", CASES)
def test_a_cause_is_nothing_against_itself(case: str) -> None:
    before, after, _ = CASES[case]
    assert kinds(before, before) == kinds(after, after) == []

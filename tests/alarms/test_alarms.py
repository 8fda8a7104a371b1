"""Each alarm on a graph that raises it, beside one that is nearly the same and must not. Pure: graphs as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.alarms.alarm import KINDS, RUN_KINDS, Alarm, told
from guard.alarms.captures import fingerprint, retrace, unstable
from guard.alarms.program import alarms, unseen
from guard.ir.parser import parse_program
from guard.report.alarms import as_list, in_margin
from guard.session.alarms import new

if TYPE_CHECKING:
    from guard.ir.graph import Program


def parsed(text: str, tracer: str = "make_fx(tracing_mode=real)") -> Program:
    return parse_program(f"guard-graph 1\ncheck a::b\ntracer {tracer}\n\n{text.strip()}\n")


def kinds(text: str) -> list[str]:
    return [alarm.kind for alarm in alarms(parsed(text))]


UNUSED = """
graph main(%x: f32[3], %y: f32[7]) -> (f32[3]) {
  %0: f32[3] = aten.add.Tensor(%x, 1)
  return %0
}
"""
BAKED = """
graph main(%d: dt<f32[4, 3], mesh(2), [S(0)]> local f32[2, 3]) -> (f32[2, 3]) {
  %0: f32[2, 3] = constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
  %1: f32[2, 3] = aten.mul.Tensor(%0, 2)
  return %1
}
"""
FAKE = """
graph main(%x: f32[3]) -> (f32[3]) {
  %0: f32[3] = constant(digest("no-bytes"))
  %1: f32[3] = aten.add.Tensor(%x, %0)
  return %1
}
"""
DEAD = """
graph main(%x: f32[3]) -> (f32[3]) {
  %0: f32[3] = aten.mul.Tensor(%x, 3)
  _: f32[3] = aten.tanh.default(%0)
  %1: f32[3] = aten.add.Tensor(%x, 1)
  return %1
}
"""
OWN = """
graph main(%x: f32[3]) -> (f32[3]) {
  %0: f32[3] = aten.tanh.default(%x)
  %1: f32[3] = aten.detach.default(%0) {alias %0}
  _: f32[3] = aten.detach.default(%1) {alias %1}
  return %0
}
"""
WHOLE = """
graph main(%i: i64[4], %w: f32[4, 6]) -> (f32[4, 6]) {
  %0: f32[8, 6] = aten.empty_strided.default([8, 6], [6, 1])
  _: f32[4, 6] = aten.embedding.default(%0, %i)
  %1: f32[4, 6] = aten.embedding.default(%w, %i)
  %2: f32[4, 6] = _c10d_functional.all_reduce.default(%1, "sum", group(0, 1)) {comm 0, 1}
  return %2
}
"""
NORM = """
graph joint(buffer %m: f32[4], buffer %v: f32[4], %x: f32[8, 4]) -> (f32[8, 4]) {
  %0: f32[8, 4], %1: f32[4], %2: f32[4], %3: f32[4], %4: f32[4] = aten._native_batch_norm_legit_functional.default(%x, None, None, %m, %v, True, 0.1, 1e-05)
  _: f32[4] = aten.copy_.default(%m, %3) {write %m, alias %m}
  _: f32[4] = aten.copy_.default(%v, %4) {write %v, alias %v}
  return %0
}
"""  # noqa: E501 - a node is a line
DROPPED = "\n".join(line for line in NORM.splitlines() if "copy_.default(%v" not in line)
DRAW = """
graph joint(%x: f32[4], tangent %tangent.0: f32[4]) -> (f32[4], grad %x: f32[4]) {
  %0: f32[4] = aten.sin.default(%x)
  %1: f32[4] = aten.rand.default([4]) {rng cpu} #backward
  %2: f32[4] = aten.mul.Tensor(%tangent.0, %1) #backward
  return %0, %2
}
"""
DETACHED = """
graph main(%x: f32[5] requires_grad) -> (f32[5] requires_grad) {
  %0: f32[5] = aten.tanh.default(%x)
  %1: f32[5] = aten.detach.default(%0) {alias %0}
  %2: f32[5] = aten.detach.default(%1) {alias %1}
  %3: f32[5] = aten.tanh_backward.default(%0, %2)
  return %3
}
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(UNUSED, ["unused-input"], id="an input that nothing uses"),
        pytest.param(UNUSED.replace("%x, 1)", "%x, 7)"), [], id="its size stands in the graph"),
        pytest.param(UNUSED.replace("%y", "buffer %y"), [], id="a buffer that evaluation ignores"),
        pytest.param(UNUSED.replace("%y: f32[7]", "%y: int(7)"), [], id="a number"),
        pytest.param(BAKED, ["unused-input", "baked-input"], id="an input baked in"),
        pytest.param(BAKED.replace("%0, 2)", "%d, %0)"), [], id="a constant beside the input"),
        pytest.param(FAKE, ["fake-constant"], id="a fake constant"),
        pytest.param(FAKE.replace('digest("no-bytes")', "[1.0, 2.0, 3.0]"), [], id="a constant"),
        pytest.param(DEAD, ["dead-node"], id="a dead node, and one behind it"),
        pytest.param(DEAD.replace("tanh.default(%0)", "detach.default(%0) {alias %0}"), ["dead-node"], id="detached"),
        pytest.param(OWN, [], id="detaches that nothing uses"),
        pytest.param(DEAD.replace("aten.tanh.default(%0)", "aten.copy_.default(%x, %0) {write %x}"), [], id="a write"),
        pytest.param(DEAD.replace("f32[3] = aten.tanh", "u8[0] = aten.tanh"), [], id="nothing in it"),
        pytest.param(WHOLE, ["global-shape", "dead-node"], id="a whole shape"),
        pytest.param(WHOLE.replace("[8, 6]", "[9, 6]"), ["dead-node"], id="another shape"),
        pytest.param(DROPPED, ["lost-mutation"], id="a dropped copy_"),
        pytest.param(NORM, [], id="both are written"),
        pytest.param(DRAW, ["backward-random"], id="the backward draws"),
        pytest.param(DRAW.replace("aten.sin.default(%x)", "aten.rand_like.default(%x) {rng cpu}"), [], id="both draw"),
        pytest.param(DETACHED, ["hidden-detach"], id="autograd's detach cuts"),
        pytest.param(DETACHED.replace("[5] requires_grad) {", "[5]) {"), [], id="no gradient is asked for"),
        pytest.param(DETACHED.replace("default(%1) {alias %1}", "default(%x) {alias %x}"), [], id="a detach of yours"),
    ],
)  # fmt: skip
def test_an_alarm_and_what_is_none(text: str, wanted: list[str]) -> None:
    assert kinds(text) == wanted


def test_a_local_tensor_larger_than_its_shard() -> None:
    text = "graph main(%x: {0}) -> ({0}) {{\n  return %x\n}}"
    right, wrong = (f"dt<f32[5, 3], mesh(2), [S(0)]> local f32[{size}, 3]" for size in (3, 5))

    assert kinds(text.format(right)) == []
    assert kinds(text.format(wrong)) == ["global-shape", "global-shape"]


def test_a_body_may_leave_an_operand_to_the_other_branch() -> None:
    body = "graph main() -> () {\n  return\n}\n\nbody body_0(%x: f32[3], %y: f32[7]) -> (f32[3]) {\n"
    assert kinds(f"{body}  return %x\n}}") == []
    assert kinds(f"{body}  _: f32[7] = aten.sin.default(%y)\n  return %x\n}}") == ["dead-node"]


def test_what_was_dropped_is_told_without_its_place() -> None:
    (whole,) = parsed(DEAD).graphs
    clean = parsed(DEAD.replace("  %0: f32[3] = aten.mul.Tensor(%x, 3)\n  _: f32[3] = aten.tanh.default(%0)\n", ""))

    (alarm,) = alarms(clean, (whole,))

    assert (alarm.kind, alarm.node) == ("dead-node", None)
    assert alarm.why == "nothing uses it, with 1 more behind it; dropped since"


@pytest.mark.parametrize(
    ("tracer", "live", "wanted"),
    [
        ("make_fx(tracing_mode=real)", True, {"backward-random", "lost-mutation"}),
        ("aot_joint()", True, set()),
        ("aot_joint()", False, {"dead-node"}),
        ("compile()", True, {"dead-node", "unused-input"}),
    ],
)
def test_what_a_tracer_cannot_show(tracer: str, live: bool, wanted: set[str]) -> None:  # noqa: FBT001 - a table
    found = {one.kind for one in unseen(parsed(DEAD, tracer), live=live)}
    assert found == wanted
    assert found <= set(KINDS) - set(RUN_KINDS)


def test_other_captures() -> None:
    first, other = parsed(UNUSED), parsed(UNUSED.replace("aten.add.Tensor(%x, 1)", "aten.sin.default(%x)"))
    renamed = parsed(UNUSED.replace("%0", "%7").replace("%7", "%0"))

    assert unstable(first, [("again", renamed)]) == ()
    (alarm,) = unstable(first, [("again", renamed), ("cold", other)])
    assert told(alarm) == "unstable: cold, it is another graph: -1 aten.add.Tensor, +1 aten.sin.default"
    assert fingerprint(first) == fingerprint(renamed) != fingerprint(other)


def test_a_trace_of_the_trace() -> None:
    def grown(text: str) -> str:
        return text.replace("  return", "  _: f32[5] = aten.detach.default(%3) {alias %3}\n  return")

    (alarm,) = retrace(parsed(DETACHED), parsed(grown(DETACHED)))
    assert alarm.why == "tracing the captured graph gives another: +1 aten.detach.default"
    # where there is no gradient in the graph, autograd's unused detaches are no growth
    plain = DETACHED.replace("default(%1) {alias %1}", "default(%x) {alias %x}")
    assert retrace(parsed(plain), parsed(grown(plain))) == ()


def test_the_margin_and_the_list() -> None:
    program = parsed(f"{DEAD.replace('(%x: f32[3])', '(%x: f32[3], %y: f32[7])')}")
    found = alarms(program)

    assert in_margin(program, found).splitlines()[4:9] == [
        "graph main(%x: f32[3], %y: f32[7]) -> (f32[3]) {",
        "  # unused-input: %y: no output or write depends on it",
        "  %0: f32[3] = aten.mul.Tensor(%x, 3)",
        "  _: f32[3] = aten.tanh.default(%0)  # dead-node: nothing uses it, with 1 more behind it",
        "  %1: f32[3] = aten.add.Tensor(%x, 1)",
    ]
    assert as_list((), unseen(program, live=True)[:1]).splitlines() == [
        "no alarms",
        "n/a, backward-random: nothing in its graph says what is backward",
    ]


def test_only_what_the_baseline_does_not_have_is_new() -> None:
    known = Alarm("dead-node", "main", "%3", "why")
    moved, more = known._replace(subject="%4"), known._replace(subject="%9")

    assert new([known], [known]) == []
    assert new([moved], [known]) == []
    assert new([more, known], [known]) == [more]
    assert new([known._replace(kind="unused-input")], [known]) == [known._replace(kind="unused-input")]

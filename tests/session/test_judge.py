"""Each way in which a capture and its baseline can disagree is its own finding, with the command that answers it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guard.findings import Finding
from guard.ir.graph import CaptureError, Graph, Input, Node, Output, Program, Ref, Result
from guard.ir.printer import print_program
from guard.ir.types import TensorType
from guard.session.judge import judge

F32 = TensorType("f32", (4,))
PATH = "baselines/a/b.graph"
ERROR = CaptureError(
    "untracked-proxy",
    "s is not tracked with proxy",
    "0123456789ab",
    "make_fx(f)(x)",
    "checks/a.py:7",
    "pytorch#93290: x",
)


def graph(name: str = "x", target: str = "aten.sin.default") -> Graph:
    node = Node((Result("0", F32),), target, (Ref(name),), source="checks/a.py:5")
    return Graph("main", (Input(name, F32),), (node,), (Output(Ref("0"), F32),))


WORKS = Program("a::b", "make_fx(tracing_mode=real)", (graph(),))
FAILS = Program("a::b", "make_fx(tracing_mode=real)", error=ERROR)


def judged(current: Program, baseline: Program | bytes | None) -> Finding | None:
    data = print_program(baseline).encode() if isinstance(baseline, Program) else baseline
    findings = judge(current, print_program(current), data, PATH)
    assert len(findings) <= 1
    return findings[0] if findings else None


@pytest.mark.parametrize("program", [WORKS, FAILS], ids=["graphs", "error"])
def test_the_same_text_holds(program: Program) -> None:
    assert judged(program, program) is None


def test_equal_text_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard.session.judge.parse_bytes", lambda *_: pytest.fail("parsed"))
    assert judged(WORKS, WORKS) is None


def test_renamed_values_and_windows_line_ends_hold() -> None:
    assert judged(WORKS, replace(WORKS, graphs=(graph("other"),))) is None
    assert judged(WORKS, print_program(WORKS).replace("\n", "\r\n").encode()) is None


def test_no_baseline_is_missing() -> None:
    found = judged(WORKS, None)
    assert found == Finding(
        "missing", "a::b", "no baseline yet; captured 1 node", (f"wanted {PATH}",), 'guard accept "a::b"'
    )


def test_no_baseline_and_no_graph_says_why() -> None:
    found = judged(FAILS, None)
    assert found is not None
    assert (found.kind, found.title) == ("missing", "no baseline, and the capture fails")
    assert found.lines[0] == ERROR.line


def test_a_baseline_that_does_not_parse_says_where() -> None:
    found = judged(WORKS, b"guard-graph 1\n<<<<<<< HEAD\n")
    assert found is not None
    assert found.kind == "unreadable"
    assert found.source is not None
    assert found.source.startswith(f"{PATH}:2:")


def test_another_operation_is_drift_with_the_changed_node_s_source() -> None:
    found = judged(replace(WORKS, graphs=(graph(target="aten.cos.default"),)), WORKS)
    assert found is not None
    assert (found.kind, found.title, found.fix) == ("drift", "structure, sin -> cos", 'guard accept "a::b"')
    assert found.source == "checks/a.py:5"
    assert "+ %0: f32[4] = aten.cos.default(%x)  checks/a.py:5" in found.lines


def test_a_capture_that_starts_to_fail_is_an_error_with_line_cause_and_partial_graph() -> None:
    found = judged(replace(FAILS, partial=graph()), WORKS)
    assert found is not None
    assert (found.kind, found.title, found.source) == (
        "error",
        "the capture now fails: untracked-proxy",
        "checks/a.py:7",
    )
    assert found.lines == (
        "s is not tracked with proxy",
        "at checks/a.py:7: make_fx(f)(x)",
        "pytorch#93290: x",
        "1 node traced before it failed",
    )


def test_failing_differently_shows_both_lines() -> None:
    other = replace(FAILS, error=replace(ERROR, kind="other", line="boom", fingerprint="ba9876543210"))
    found = judged(other, FAILS)
    assert found is not None
    assert (found.kind, found.title) == ("error", "fails differently: other, was untracked-proxy")
    assert found.lines[:2] == ("- s is not tracked with proxy", "+ boom")


def test_a_capture_that_begins_to_work_is_news() -> None:
    found = judged(WORKS, FAILS)
    assert found is not None
    assert (found.kind, found.title) == ("works", "the capture works now; it failed before: untracked-proxy")


def test_an_id_that_a_shell_would_expand_is_quoted_for_it() -> None:
    found = judged(replace(WORKS, check="a::b[$x]"), None)
    assert found is not None
    assert found.fix == "guard accept 'a::b[$x]'"

"""What baselines compared with themselves show: pure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guard.cost import aa
from guard.cost.aa import AA
from guard.cost.paired import Paired
from guard.cost.ratio import Ratio
from guard.environment import Environment
from guard.ir.graph import Graph, Input, Node, Output, Program, Ref, Result
from guard.ir.types import TensorType
from guard.report.aa import text

F32 = TensorType("f32", (4,))
HERE = Environment("2.13.0+cpu", "3.11", "linux-x86_64", "cpu")


def program(*ops: str) -> Program:
    names = ["x", *map(str, range(len(ops)))]
    nodes = tuple(Node((Result(names[at + 1], F32),), op, (Ref(names[at]),)) for at, op in enumerate(ops))
    graph = Graph("main", (Input("x", F32),), nodes, (Output(Ref(names[-1]), F32),))
    return Program("aa::capture", "make_fx()", (graph,))


def pair(ratio: float, report_only: str | None = None) -> Paired:
    return Paired("main", ratio=Ratio(ratio, 1e-3, ratio * 1e-3, report_only))


def test_equal_counts_have_no_noise_and_one_call_more_is_seen() -> None:
    found = aa.counts([1000, 4000], [1000, 4000, 1000, 4000], 0.01)
    assert (found.compared, found.alarms, found.noise, found.smallest) == (4, 0, 0.0, 0.001)


def test_counts_are_compared_with_those_of_their_own_capture() -> None:
    found = aa.counts([1000, 4000], [1000, 4000, 1020, 3900], 0.01)
    assert (found.compared, found.alarms, found.noise) == (4, 1, 0.025)
    assert found.rate == 0.25
    assert found.smallest > found.noise


def test_ratios_that_may_not_fail_a_run_are_left_out() -> None:
    quads = [(pair(1.01), False), (pair(0.97), False), (pair(1.2, "two modes"), False), (pair(1.08), True)]
    found = aa.ratios(quads)
    assert (found.compared, found.alarms, found.left_out) == (3, 1, 1)
    assert found.noise == pytest.approx(0.08)


def test_a_graph_that_costs_otherwise_is_an_alarm() -> None:
    baseline = [program("aten.sin.default"), program("aten.sin.default", "aten.cos.default")]
    assert aa.exact(baseline, [baseline, baseline]).alarms == 0
    found = aa.exact(baseline, [baseline, [baseline[0], program("aten.sin.default")]])
    assert (found.compared, found.alarms, found.smallest) == (4, 1, 1.0)


def test_a_file_reads_back_and_anything_else_is_none() -> None:
    found = AA(HERE, "torch 2.13.0", 3, (aa.counts([1000], [1003], 0.01), aa.ratios([(pair(1.0), False)])))
    assert aa.parse(aa.dump(found)) == found
    for other in ("", "[]", "{}", "null", '{"schema": 2}', aa.dump(found).replace('"runs"', '"rounds"')):
        assert aa.parse(other) is None


def test_the_table_says_what_is_exact_and_what_is_noise() -> None:
    trace = aa.counts([1000], [1000], 0.01)
    run = aa.ratios([(pair(1.08), False), (pair(1.3, "two modes"), False)])
    graph = aa.exact([program("aten.sin.default")], [[program("aten.sin.default")]])
    lines = text(AA(HERE, "torch 2.13.0", 1, (graph, trace, run))).splitlines()
    assert lines[0].split("  ")[0] == "measure"
    assert [line.split("  ")[0] for line in lines[1:4]] == ["graph cost", "trace cost", "run cost"]
    assert lines[2].endswith("0.1 % (1 call)")
    assert lines[3].endswith("8 %")
    assert lines[4:] == [
        "run cost: 1 more were report-only",
        "run cost: noise of 8 % is beyond the tolerance of 5 %",
        "1 runs; torch 2.13.0",
    ]


def test_nothing_judged_is_no_zero() -> None:
    found = aa.ratios([(pair(1.3, "two modes"), False)])
    assert " 0 " in text(AA(HERE, "k", 1, (found,)))
    assert replace(found, compared=0).rate == 0.0

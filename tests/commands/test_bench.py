"""guard bench in whole runs: what is pending is run against its baseline, in processes of their own."""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING

import pytest

from guard.baselines.pending import digest
from guard.commands import bench as bench_module
from guard.commands.bench import bench
from guard.commands.bench_process import measure
from guard.commands.options import BenchOptions
from guard.cost.paired import Paired
from guard.cost.ratio import Ratio
from guard.ir.digest import digest_text, file_name

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project import Project

CHECKS = """
from guard import MakeFx

def test_one(guard):
    guard.check(lambda x=None: {ops}, tracer=MakeFx())

def test_two(guard):
    guard.check(lambda x=None: ["aten.cos.default"], tracer=MakeFx())
"""


@pytest.fixture
def drifted(project: Project) -> Project:
    """Two recorded checks, of which the first now computes something else."""
    project.checks(CHECKS.format(ops='["aten.sin.default"]'))
    assert project.guard("update").returncode == 0
    project.checks(CHECKS.format(ops='["aten.sin.default", "aten.neg.default"]'))
    assert project.guard("check").returncode == 1
    return project


def test_without_a_baseline_there_is_nothing_to_run(project: Project) -> None:
    done = project.guard("bench")

    assert (done.returncode, done.stdout) == (4, "nothing to run: there is no baseline and nothing is pending\n")


def test_what_drifted_is_run_and_what_holds_is_not(drifted: Project) -> None:
    done = drifted.guard("bench", "--quads", "3")

    assert done.returncode == 0, done.stderr
    first, wrong, times, second, summary = done.stdout.splitlines()
    assert first.startswith('"it::one": structure drift, values differ, ')
    assert wrong.startswith("  output 0 [0]: wanted ")
    assert "report only: only 3 quads" in times
    assert second == '"it::two": nothing pending'
    assert summary == "1 run, 1 with other values, 1 with nothing pending"


def test_a_hostile_baseline_is_refused_with_its_line_and_nothing_is_run(drifted: Project) -> None:
    path = drifted.root / "baselines" / "it" / "one.graph"
    path.write_text(path.read_text("utf-8").replace("aten.sin.default", "os.system"), "utf-8")
    assert drifted.guard("check").returncode == 1

    done = drifted.guard("bench", "it::one", "--format", "json")

    (check,) = json.loads(done.stdout)["checks"]
    (graph,) = check["graphs"]
    assert 'unknown target "os.system"' in graph["problem"]
    assert (graph["line"], graph["side"], graph["values"]) == (6, "baseline", "")
    assert done.returncode == 0


def test_a_file_of_a_million_lines_is_not_parsed(drifted: Project) -> None:
    path = drifted.root / "baselines" / "it" / "one.graph"
    line = "  %0: f32[4] = aten.sin.default(%x)\n"
    text = path.read_text("utf-8")
    path.write_text(text.replace(line, line * 1_000_000), "utf-8")
    meta = drifted.root / ".guard" / "pending" / "it" / "one.graph.json"
    record = json.loads(meta.read_text("utf-8"))
    meta.write_text(json.dumps(record | {"baseline": digest(path.read_bytes())}), "utf-8")

    done = drifted.guard("bench", "it::one", timeout=30)

    assert "lines, wanted at most" in done.stdout
    assert "0 run, 1 not run" in done.stdout


def test_a_baseline_that_changed_since_is_not_compared(drifted: Project) -> None:
    path = drifted.root / "baselines" / "it" / "one.graph"
    path.write_text(path.read_text("utf-8").replace("sin", "cos"), "utf-8")

    assert "its baseline has changed since the check ran" in drifted.guard("bench", "it::one").stdout


def test_sources_that_changed_since_the_check_are_told(drifted: Project) -> None:
    assert "was captured before" not in drifted.guard("bench", "it::one", "--quads", "1").stderr
    drifted.checks(CHECKS.format(ops='["aten.sin.default"]'))

    assert 'note: "it::one" was captured before checks/test_it.py changed' in drifted.guard("bench", "it::one").stderr


def test_an_unknown_id_is_a_usage_error(drifted: Project) -> None:
    done = drifted.guard("bench", "it::three")

    assert done.returncode == 2
    assert "unknown check" in done.stderr
    assert drifted.guard("bench", "--quads", "0").returncode == 2


PAIR = Paired("main", values="same values")
DIFFERS = Paired("main", values="values differ", difference="output 0 [0]: wanted 1.0, got 2.0")


@pytest.mark.parametrize(
    ("pair", "asked", "code"),
    [(PAIR, True, 0), (DIFFERS, False, 0), (DIFFERS, True, 1), (Paired("main", "no run cost: it fails"), True, 1)],
)
def test_other_values_fail_only_where_that_is_asked_for(
    drifted: Project, monkeypatch: pytest.MonkeyPatch, pair: Paired, code: int, *, asked: bool
) -> None:
    monkeypatch.chdir(drifted.root)
    monkeypatch.setattr(bench_module, "measure", lambda *_: (pair,))

    assert bench(BenchOptions(require_same_values=asked)) == code
    # what holds is known to
    assert bench(BenchOptions(("it::two",), require_same_values=True)) == 0


@pytest.mark.parametrize(("again", "code"), [(1.3, 1), (1.0, 0)])
def test_a_slowdown_fails_only_where_a_fresh_process_confirms_it(
    drifted: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], again: float, code: int
) -> None:
    ratios = iter((1.3, again))
    monkeypatch.chdir(drifted.root)
    monkeypatch.setattr(
        bench_module,
        "measure",
        lambda *_: (Paired("main", values="same values", ratio=Ratio(next(ratios), 1e-3, 1.3e-3)),),
    )

    assert bench(BenchOptions()) == code
    said = capsys.readouterr().out
    assert ("confirmed in a fresh process" in said) == bool(code)
    assert next(ratios, None) is None


TEXT = (
    b"guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%x: f32[4]) -> (f32[4]) {\n"
    b"  %0: f32[4] = aten.sin.default(%x)\n  return %0\n}\n"
)


def test_what_a_baseline_may_not_name_is_refused_with_its_line_and_the_rest_runs(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    hostile = {
        f'os.system("touch {planted}")': 'unknown target "os.system"',
        "nowhere.add.Tensor(%x, %x)": 'unknown target "nowhere.add.Tensor"',
        f'constant("{planted}")': "wanted numbers of a constant",
        f'constant(digest("{planted}"))': "has no bytes",
        f'constant(digest("sha256:{"0" * 32}"))': "is not among current's",
    }
    head, _, graph = TEXT.decode().partition("graph main")
    names = ["main", *(f"g{index}" for index in range(len(hostile)))]
    calls = ["aten.sin.default(%x)", *hostile]
    current = head + "\n".join(f"graph {name}{graph}" for name in names)
    baseline = head + "\n".join(
        f"graph {name}{graph.replace(calls[0], call)}" for name, call in zip(names, calls, strict=True)
    )

    found = measure(baseline.encode(), current.encode(), 0, 60)

    assert not isinstance(found, str), found
    assert (found[0].values, found[0].problem) == ("same values", None)
    for pair, call, reason in zip(found[1:], hostile, hostile.values(), strict=True):
        assert reason in str(pair.problem)
        assert (pair.side, call in baseline.splitlines()[(pair.line or 0) - 1]) == ("baseline", True)
    assert not planted.exists()


def test_a_large_constant_has_the_bytes_that_were_kept(tmp_path: Path) -> None:
    data = array("f", range(100)).tobytes()
    other = array("f", [0.0, *range(1, 99), 1e3]).tobytes()
    for kept in (data, other):
        (tmp_path / str(file_name(digest_text((kept,))))).write_bytes(kept)
    head, _, graph = TEXT.decode().replace("f32[4]", "f32[100]").partition("graph main")
    node = "  %0: f32[100] = aten.sin.default(%x)\n"

    def program(*added: tuple[bytes, str]) -> bytes:
        found = []
        for name, (bytes_, order) in zip(("main", "other"), added, strict=True):
            lines = f'  %0: f32[100] = constant(digest("{digest_text((bytes_,))}"))\n'
            lines += f"  %1: f32[100] = aten.add.Tensor({order})\n"
            found.append(f"graph {name}{graph.replace(node, lines).replace('return %0', 'return %1')}")
        return (head + "\n".join(found)).encode()

    baseline = program((data, "%x, %0"), (data, "%x, %0"))
    current = program((data, "%0, %x"), (other, "%x, %0"))

    found = measure(baseline, current, 0, 60, tmp_path)

    assert not isinstance(found, str), found
    assert [(pair.values, pair.problem) for pair in found] == [("same values", None), ("values differ", None)]
    assert str(found[1].difference).startswith("output 0 [99]: wanted ")


def test_a_process_that_does_not_end_or_dies_is_a_line_and_not_the_end_of_guard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "did not end within 0.01 s" in measure(TEXT, TEXT, 1, 0.01)
    monkeypatch.setattr("guard.commands.bench_process._BOOT", "import os; os.abort()")
    assert measure(TEXT, TEXT, 1, 60) == "the process that ran it was ended by signal 6"
    monkeypatch.setattr("guard.commands.bench_process._BOOT", "import os; os.kill(os.getpid(), 9)")
    assert measure(TEXT, TEXT, 1, 60) == "the process that ran it was ended by signal 9, as where memory runs out"
    monkeypatch.setattr("guard.commands.bench_process._BOOT", "raise ValueError('planted')")
    assert measure(TEXT, TEXT, 1, 60) == "the process that ran it failed: ValueError: planted"

"""guard show --cost and the cost line of guard diff."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from guard.__main__ import main
from guard.baselines.disk import write_whole
from guard.baselines.store import Store
from guard.config import load
from tests.project import empty_project
from tests.report.test_report_json import PAGE, documented, keys

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
guard-graph 1
check a::b
tracer make_fx(tracing_mode=symbolic)
break "print"

graph main(%x: f32[s0, 8], %y: f32[8, 4]) -> (f32[s0, 4]) {
  where s0 in [2, 64]
  %0: f32[s0, 4] = aten.mm.default(%x, %y)
  %1: f32[4, s0]{1, 4} = aten.t.default(%0) {alias %0}
  %2: f32[4] = aten.mv.default(%1, %1)
  return %0
}
"""
ERROR = """\
guard-graph 1
check a::c
tracer make_fx(tracing_mode=real)

error data-dependent
line "Could not guard"
fingerprint 0123456789ab
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\n")
    (tmp_path / "checks").mkdir()
    monkeypatch.chdir(tmp_path)
    for check, text in {"a::b": TEXT, "a::c": ERROR}.items():
        write_whole(Store(load(tmp_path)).path(check), text.encode())
    (tmp_path / "more.graph").write_text(TEXT.replace("  return", "  %3: f32[s0, 4] = aten.sin.default(%0)\n  return"))
    return tmp_path


def test_costs_stand_beside_the_nodes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "a::b", "--cost"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(TEXT.partition("  %0")[0])
    assert re.search(r"= aten.mm.default\(%x, %y\) +# flops s0\*64, read s0\*32 \+ 128, written s0\*16\n", out)
    assert "  %1: f32[4, s0]{1, 4} = aten.t.default(%0) {alias %0}\n" in out  # a view has no margin
    assert "# flops ?, read s0*16, written 16\n" in out
    assert "\nflops s0*64\nflops of 1 aten.mv.default not counted: torch has no formula\n" in out
    assert out.endswith("\ngraph breaks 1, recompiles 0\n")
    assert main(["show", "a::b", "--cost", "--sizes", "s0=4"]) == 0
    out = capsys.readouterr().out
    assert "# flops 256, read 256, written 64\n" in out
    assert "\nflops 256\n" in out
    assert here.is_dir()


def test_the_record_is_documented(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "a::b", "--cost", "--format", "json", "--sizes", "s0=4"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["text"] == TEXT
    assert (record["cost"]["flops"], record["cost"]["no_formula"]) == (256, {"aten.mv.default": 1})
    assert record["trace_cost"] == []
    record["cost"]["ops"] = record["cost"]["no_formula"] = {}  # their keys are targets
    assert keys(record) <= documented(PAGE)
    assert here.is_dir()


def test_diff_ends_with_the_cost(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a::b", "more.graph"]) == 1
    assert capsys.readouterr().out.endswith(
        "\ncosts more: bytes read +s0*16, bytes written +s0*16, peak live bytes higher\n"
        "  at %3 aten.sin.default: read s0*16, written s0*16\n"
    )
    assert main(["diff", "a::b", "more.graph", "--format", "json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["cost"]["deltas"][0] == {
        "name": "bytes read", "baseline": "s0*48 + 128", "current": "s0*64 + 128", "more": True
    }  # fmt: skip
    assert keys(record) <= documented(PAGE)
    assert main(["diff", "a::b", "a::c", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["cost"] is None
    assert here.is_dir()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a::c", "--cost"], '"baselines/a/c.graph" holds a capture that failed: it has no cost'),
        (["a::b", "--sizes", "s0=4"], "--sizes is for --cost"),
        (["a::b", "--cost", "--sizes", "s0"], "wanted sizes such as s0=4,s1=8, got 's0'"),
        (["a::b", "--cost", "--sizes", "s0=-1"], "wanted sizes such as"),
    ],
)
def test_bad_input(here: Path, given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", *given]) == 2
    assert message in capsys.readouterr().err
    assert here.is_dir()


def test_without_torch_only_flops_are_not_known(here: Path) -> None:
    code = "import sys; sys.modules['torch'] = None\nfrom guard.__main__ import main\nmain(['show', 'a::b', '--cost'])"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=here, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert "# read s0*32 + 128, written s0*16\n" in ran.stdout, ran.stderr
    assert "\nflops n/a: no torch\nbytes read" in ran.stdout


def test_a_run_says_what_a_drift_costs(tmp_path: Path) -> None:
    project = empty_project(tmp_path)
    check = "def test_b(guard):\n    guard.check(lambda: {}, tracer=None)\n"
    base = ["aten.sin.default", "aten.neg.default"]
    project.checks(check.format(base))
    assert project.guard("update").returncode == 0
    project.checks(check.format([base[0], "aten.clone.default", base[1]]))
    ran = project.guard("check", "--format", "json")
    finding = json.loads(ran.stdout)["outcomes"][0]["findings"][0]
    assert finding["cost"] == [
        "costs more: bytes read +16, bytes written +16",
        "  at %1 aten.clone.default: read 16, written 16  checks/test_it.py:2",
    ]
    shown = project.guard("review", "--list").stdout
    assert "\n  costs more: bytes read +16, bytes written +16\n" in shown
    project.checks(check.format(base[:1]))
    ran = project.guard("check")
    assert ran.returncode == 1  # the drift decides
    assert "\n  note: cheaper: bytes read -16, bytes written -16, peak live bytes -16\n" in ran.stdout

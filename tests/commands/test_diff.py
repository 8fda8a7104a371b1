"""guard diff: two graphs from anywhere, by class, without torch."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from guard.__main__ import main
from guard.baselines.disk import write_whole
from guard.baselines.meta import Meta
from guard.baselines.pending import digest, pending_path, write_pending
from guard.baselines.store import Store
from guard.config import Config, load

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = """\
guard-graph 1
check {check}
tracer make_fx(tracing_mode=real)

graph main(%a: f32[4]) -> (f32[4]) {{
  %0: f32[4] = aten.{op}.default(%a)
  return %0
}}
"""
ERROR = """\
guard-graph 1
check a::b
tracer make_fx(tracing_mode=real)

error data-dependent
  line "Could not guard on data-dependent expression"
  fingerprint {fingerprint}
"""


def graph(check: str = "a::b", op: str = "neg") -> str:
    return GRAPH.format(check=check, op=op)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a project that holds some graphs."""
    for name, text in {
        "neg": graph(),
        "renamed": graph().replace("%0", "%n").replace("%a", "%x"),
        "sin": graph(op="sin"),
        "other": graph("x::y"),
        "torn": graph()[:80],
        "conflict": f"<<<<<<< HEAD\n{graph()}=======\n{graph(op='sin')}>>>>>>> branch\n",
    }.items():
        (tmp_path / f"{name}.graph").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def config(here: Path) -> Config:
    """A project with a baseline and something pending."""
    (here / "checks").mkdir()
    config = load(here)
    write_whole(Store(config).path("a::b"), graph().encode())
    write_whole(Store(config).path("a::c"), graph("a::c").encode())
    bound = Meta("2.13.0", digest(graph().encode()))
    write_pending(config, "a::b", graph(op="sin"), bound)
    return config


@pytest.mark.parametrize(("other", "code"), [("neg", 0), ("renamed", 0), ("other", 0), ("sin", 1)])
def test_two_files_need_no_project(here: Path, other: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "neg.graph", str(here / f"{other}.graph")]) == code
    out = capsys.readouterr().out
    if code == 0:
        assert out == "equal: the same graphs, but for names and legal order\n"
    else:
        assert out.startswith("structure, ")
        assert "  - %0: f32[4] = aten.neg.default(%a)\n" in out
        assert "  + %0: f32[4] = aten.sin.default(%a)\n" in out


def test_the_record(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "neg.graph", "sin.graph", "--format", "json"]) == 1
    record = json.loads(capsys.readouterr().out)
    (change,) = record.pop("changes")
    assert record.pop("cost") == {"deltas": [], "lines": []}
    assert record == {"schema": 1, "baseline": "neg.graph", "current": "sin.graph", "equal": False}
    assert (change["kind"], change["drift"]) == ("drift", "structure")
    assert main(["diff", "neg.graph", "renamed.graph", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["changes"] == []
    assert here.is_dir()


def test_a_check_against_what_waits_for_it(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["a::b"], ["checks/test_a.py::test_b"], ["baselines/a/b.graph"]):
        assert main(["diff", *given, "--format", "json"]) == 1
        record = json.loads(capsys.readouterr().out)
        assert (record["baseline"], record["current"]) == ("baselines/a/b.graph", ".guard/pending/a/b.graph")
    assert main(["diff", "a::c", "a::b"]) == 0
    assert main(["diff", "a::b", "sin.graph"]) == 1
    assert config.root.is_dir()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "wanted two graphs, or one check that has something pending, got 0\n  guard diff A B, "),
        (["a", "b", "c"], "got 3"),
        (["a::c"], '"a::c": nothing is pending for it'),
        (["a"], '"a" names 2 checks, wanted one\n  guard diff "a::b"'),
        (["a::x"], 'no file and no check "a::x"\n  did you mean'),
        (["a::b", "none.graph"], 'no such file: "none.graph"'),
        (["a::b", "a::x"], 'no file and no check "a::x"'),
        (["a::b", "checks"], '"checks" is a folder'),
        (["a::b", "x" * 3000], "no file and no check"),
        (["a::b", "\u03b1" * 200 + ".graph"], "no such file"),
        (["neg.graph", "torn.graph"], "torn.graph:5:"),
        (["conflict.graph", "neg.graph"], "conflict.graph:1:1: "),
        (["a::b", "sin.graph", "--format", "markdown"], "--format markdown is for --since"),
        (["a::b", "sin.graph", "--format", "yaml"], "guard diff: argument --format: wanted 'text' or 'json' or 'markd"),
    ],
)
def test_bad_input(config: Config, given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *given]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert config.root.is_dir()


def test_one_file_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "neg.graph"]) == 2
    assert "wanted two graphs" in capsys.readouterr().err
    assert main(["diff", "neg.graph", "a::b"]) == 2
    assert '"a::b" is no file, and there is no project that it could be a check of' in capsys.readouterr().err
    assert here.is_dir()


def test_what_waits_and_is_not_right(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    pending_path(config, "a::b").write_text("torn")
    assert main(["diff", "a::b"]) == 2
    assert 'the pending file of "a::b" is not right' in capsys.readouterr().err
    write_pending(config, "a::b", None, Meta("2.13.0", None, action="remove"))
    assert main(["diff", "a::b"]) == 2
    assert '"a::b": what waits is its removal' in capsys.readouterr().err


def test_torch_is_not_imported(here: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from guard.__main__ import main\n"
        "print(main(['diff', 'neg.graph', 'sin.graph']), 'pytest' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=here, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, check=False
    )
    assert ran.stdout.split()[-2:] == [b"1", b"False"], ran.stderr


def test_a_folded_finding_names_the_command_that_shows_all(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"  %{n}: f32[4] = aten.cos.default(%{n - 1})\n" for n in range(1, 60))
    text = graph("a::c").replace("  return %0", f"{rows}  return %59")
    write_pending(config, "a::c", text, Meta("2.13.0", digest(graph("a::c").encode())))
    assert main(["review", "a::c", "--list"]) == 0
    folded = capsys.readouterr().out
    command = re.search(r"\.\.\. \d+ more lines: guard (diff .*)\n", folded)
    assert command is not None
    assert main(shlex.split(command[1])) == 1
    # "= ": the rows of the change, not the lines that name what costs more
    assert capsys.readouterr().out.count("= aten.cos.default") == 59 > folded.count("= aten.cos.default")

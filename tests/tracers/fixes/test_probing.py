"""Verdicts about torch come from a subprocess, once per build; a bad cache costs time, never a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from guard.tracers.fixes import FIXES, applied, table
from guard.tracers.fixes import probing as module
from guard.tracers.fixes.fix import Fix
from guard.tracers.fixes.probe import look
from guard.tracers.fixes.probing import Probed, build_key, probed

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"nested-isolation": Probed("needed", "a symptom"), "proxy-preservation": Probed("native", "right")}


@pytest.fixture(autouse=True)
def _fresh_process_memory() -> None:
    module._probed.cache_clear()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    calls: list[float] = []

    def ask(seconds: float) -> dict[str, Probed]:
        calls.append(seconds)
        return GOOD

    monkeypatch.setattr(module, "_ask", ask)
    return calls


def forget() -> None:
    module._probed.cache_clear()


def cache_file(folder: Path) -> Path:
    return folder / f"fixes-{build_key()}.json"


def test_real_probe_says_what_this_torch_does(tmp_path: Path) -> None:
    states = {state.name: state.state for state in table(tmp_path)}
    assert set(states) == {fix.name for fix in FIXES}
    assert "cannot" not in states.values()
    for fix in FIXES:
        assert (look(fix)[0] == "native") == (states[fix.name] == "native")
    assert json.loads(cache_file(tmp_path).read_text()).keys() == states.keys()


def test_one_question_serves_later_processes(tmp_path: Path, asked: list[float]) -> None:
    for _ in range(3):
        forget()
        assert probed(tmp_path / "new") == GOOD
    assert len(asked) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"x"',
        "{}",
        '{"nested-isolation": ["native", "x"]}',
        '{"nested-isolation": ["fine", "x"], "proxy-preservation": ["native", "x"]}',
        '{"nested-isolation": ["native"], "proxy-preservation": ["native", "x"]}',
        '{"nested-isolation": ["native", "x"], "proxy-preservation": ["native", "x"], "other": ["native", "x"]}',
    ],
)
def test_corrupt_cache_is_asked_again_and_mended(tmp_path: Path, asked: list[float], text: str) -> None:
    cache_file(tmp_path).write_text(text)
    assert probed(tmp_path) == GOOD
    forget()
    assert probed(tmp_path) == GOOD
    assert len(asked) == 1


def test_binary_cache_is_asked_again(tmp_path: Path, asked: list[float]) -> None:
    cache_file(tmp_path).write_bytes(b"\xff\xfe\x00")
    assert probed(tmp_path) == GOOD
    assert asked


def test_cache_that_cannot_be_a_folder_costs_time_only(tmp_path: Path, asked: list[float]) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    for _ in range(2):
        forget()
        assert probed(blocked / "cache") == GOOD
    assert len(asked) == 2


def test_failure_is_told_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE", "guard.no_such_module")
    verdicts = probed(tmp_path)
    assert {verdict.state for verdict in verdicts.values()} == {"cannot"}
    assert "No module named guard.no_such_module" in verdicts["nested-isolation"].evidence
    assert not cache_file(tmp_path).exists()
    with applied(tmp_path) as in_force:
        assert in_force.names == ()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="PYTHONSAFEPATH arrived in 3.11")
def test_folder_of_the_same_name_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "__init__.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "PROBE", "guard.errors")
    assert module._ask(60)["nested-isolation"].evidence == "the probe exited with 0: it said nothing"


def test_slow_probe_is_told() -> None:
    assert module._ask(0.01)["nested-isolation"] == Probed("cannot", "the probe did not end in 0.01 s")


def test_missing_interpreter_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert module._ask(5)["nested-isolation"] == Probed("cannot", "the probe did not start: No such file or directory")


def test_chatter_before_the_answer_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = json.dumps({name: [verdict.state, verdict.evidence] for name, verdict in GOOD.items()})

    def run(*_: Any, **__: Any) -> Any:
        return subprocess.CompletedProcess([], 0, stdout=f"a library says hello\n{answer}\n", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    assert module._ask(5) == GOOD


def test_edited_torch_is_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = tmp_path / "proxy_tensor.py"
    edited.write_text("a")
    monkeypatch.setattr(module, "TORCH_FILES", (str(edited),))
    before = build_key()
    assert build_key() == before
    edited.write_text("ab")
    assert build_key() != before


def test_applied_reports_what_engaged(tmp_path: Path, asked: list[float]) -> None:
    from guard.tracers.fixes.nested_programs import direct

    assert not asked
    with applied(tmp_path) as in_force:
        direct("real", None)
        before = in_force.engaged()
        direct("real", "symbolic")
    assert (in_force.names, before, in_force.engaged()) == (("nested-isolation",), (), ("nested-isolation",))


class Stub:
    """A fix's module: symptoms before and after it is applied."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self._answers = iter(answers)
        self.apply = nullcontext

    def symptoms(self) -> tuple[str, ...]:
        return next(self._answers)


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ([()], ("native", "torch does this right by itself")),
        ([("one",), ()], ("needed", "one")),
        ([("one", "two", "three"), ()], ("needed", "one (and 2 more)")),
        ([("one",), ("one",)], ("cannot", "still wrong with the fix: one")),
    ],
)
def test_verdict_follows_the_symptoms(
    monkeypatch: pytest.MonkeyPatch, answers: list[tuple[str, ...]], wanted: tuple[str, str]
) -> None:
    monkeypatch.setitem(sys.modules, "stub_fix", Stub(*answers))
    assert look(Fix("stub", "pytorch#1", "holds", "stub_fix", "stub_fix")) == wanted


def test_moved_private_part_is_told() -> None:
    state, evidence = look(Fix("stub", "pytorch#1", "holds", "guard.tracers.no_such", "guard.tracers.no_such"))
    assert (state, evidence) == ("cannot", "ModuleNotFoundError: No module named 'guard.tracers.no_such'")

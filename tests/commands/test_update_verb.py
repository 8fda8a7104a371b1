"""update on a run that is given: what it accepts, what it leaves, and what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from guard.__main__ import main
from guard.baselines.meta import Meta
from guard.baselines.pending import write_pending
from guard.baselines.store import Store
from guard.commands import update
from guard.config import Config, load
from guard.findings import KINDS, Counted, Finding, Outcome, Run

if TYPE_CHECKING:
    from pathlib import Path

    from guard.commands.options import CheckOptions

GRAPH = "guard-graph 1\ncheck {}\ntracer make_fx\n\ngraph main(%a: f32[4]) -> (f32[4]) {{\n  return %a\n}}\n"
HOLDS = Outcome("z::holds", "checks/test_z.py::test_holds")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    (tmp_path / "checks").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return load(tmp_path)


def outcome(config: Config, check: str, *kinds: str) -> Outcome:
    pending = write_pending(config, check, GRAPH.format(check), Meta(torch="2.13.0", baseline=None))
    findings = tuple(Finding(kind, check, "t") for kind in kinds)
    return Outcome(check, f"checks/test_a.py::{check}", findings, pending=pending)


def runs(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome) -> list[CheckOptions]:
    """Replace the run; return the options that it is asked with."""
    asked: list[CheckOptions] = []

    def run_checks(_: Config, options: CheckOptions) -> Run:
        asked.append(options)
        return Run(outcomes, seconds=1, collected=len(outcomes))

    monkeypatch.setattr(update, "run_checks", run_checks)
    return asked


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_new_baseline_answers(config: Config, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    runs(monkeypatch, outcome(config, "a::b", kind), HOLDS)
    code = main(["update"])
    if kind in ("missing", "drift", "trace-cost", "error", "works", "unreadable"):
        assert (code, Store(config).ids()) == (0, ("a::b",))
    else:
        assert code in (1, 2, 3)
        assert Store(config).ids() == ()


@pytest.mark.parametrize(("ignored", "ids"), [((), ("a::b",)), ((Finding("drift", "a::b", "t"),), ())])
def test_what_waits_without_a_finding_is_a_trace_cost_unless_policy_ignores_a_drift(
    config: Config, monkeypatch: pytest.MonkeyPatch, ignored: tuple[Finding, ...], ids: tuple[str, ...]
) -> None:
    runs(monkeypatch, replace(outcome(config, "a::b"), ignored=ignored, counted=Counted("new", 7)))
    assert main(["update"]) == 0
    assert Store(config).ids() == ids


@pytest.mark.parametrize("kind", ["failed", "crash"])
def test_a_drift_beside_another_finding_stays(config: Config, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    runs(monkeypatch, outcome(config, "a::b", "drift", kind))
    assert main(["update"]) == 1
    assert Store(config).ids() == ()


def test_it_says_what_is_left_and_what_it_wrote(
    config: Config, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = runs(monkeypatch, outcome(config, "a::b", "drift"), outcome(config, "a::c", "crash"), HOLDS)
    assert main(["update", "a", "-k", "x"]) == 1
    assert capsys.readouterr().out == (
        'crash: "a::c" - t\n'
        "2 hold, 1 crash in 1.0 s\n"
        'accepted: "a::b"\n'
        "git add -- baselines/a/b.graph baselines/environment.toml\n"
    )
    assert [(options.ids, options.keyword) for options in asked] == [(("a",), "x")]


def test_a_refused_accept_is_2_and_the_finding_stays(
    config: Config, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = outcome(config, "a::b", "missing")
    (config.root / ".guard" / "pending" / "a" / "b.graph").write_text("torn")
    runs(monkeypatch, broken, HOLDS)
    assert main(["update"]) == 2
    captured = capsys.readouterr()
    assert "1 holds, 1 missing" in captured.out
    assert "refused:" in captured.err


def test_an_interrupted_run_accepts_nothing(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run((outcome(config, "a::b", "drift"),), interrupted=True)
    monkeypatch.setattr(update, "run_checks", lambda *_: run)
    assert main(["update"]) == 130
    assert Store(config).ids() == ()


def test_ci_is_refused_before_the_run(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = runs(monkeypatch, outcome(config, "a::b", "missing"))
    monkeypatch.setenv("CI", "true")
    assert main(["update"]) == 2
    assert asked == []
    assert main(["update", "--in-ci"]) == 0


def test_settling_leaves_other_findings(config: Config) -> None:
    both = outcome(config, "a::b", "drift", "fix")
    settled = update.settle(Run((both, HOLDS)), ("a::b",))
    assert settled.outcomes == (replace(both, findings=both.findings[1:], pending=None), HOLDS)

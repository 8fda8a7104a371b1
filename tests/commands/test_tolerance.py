"""A tolerance that is tighter than the noise that was measured here is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from guard.commands import aa as verb
from guard.commands import aa_process
from guard.commands.options import SelftestOptions
from guard.commands.tolerance import refuse_tight, run_noise
from guard.config import load
from guard.cost import aa
from guard.cost.aa import AA
from guard.cost.paired import Paired
from guard.cost.ratio import Ratio
from guard.environment import current
from guard.errors import GuardError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from guard.config import Config
    from tests.project import Project

NOISY = AA(current(), "torch", 20, (aa.counts([10_000], [10_012], 0.01),))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "checks").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured(root: Path, tolerance: float | None) -> Config:
    line = "" if tolerance is None else f"trace_tolerance = {tolerance}\n"
    (root / "pyproject.toml").write_text(f"[tool.guard]\n{line}")
    return load()


def keep(root: Path, found: AA) -> None:
    folder = root / ".guard" / "cache"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / aa.FILE).write_text(aa.dump(found))


def test_tighter_than_noise_is_refused_with_what_to_write(root: Path) -> None:
    keep(root, NOISY)
    with pytest.raises(UsageError) as raised:
        refuse_tight(configured(root, 0.001))
    assert "wanted at least 0.12 %" in raised.value.problem
    assert "got 0.1 %" in raised.value.problem
    assert raised.value.tip == "trace_tolerance = 0.0012  # [tool.guard] of pyproject.toml"
    refuse_tight(configured(root, 0.0012))


def test_what_is_not_known_refuses_nothing(root: Path) -> None:
    refuse_tight(configured(root, 0.0001))  # nothing was measured
    keep(root, replace(NOISY, environment=replace(NOISY.environment, torch="2.9.1")))
    refuse_tight(configured(root, 0.0001))  # another torch's noise
    (root / ".guard" / "cache" / aa.FILE).write_text("no JSON")
    refuse_tight(configured(root, 0.0001))
    keep(root, NOISY)
    refuse_tight(configured(root, None))  # nobody has chosen a tolerance


def test_check_refuses_before_it_traces(project: Project) -> None:
    project.write("pyproject.toml", "[tool.guard]\nworkers = 1\ntrace_tolerance = 0.001\n")
    project.checks("def test_one(guard):\n    guard.check(lambda: ['aten.sin'], tracer=None)\n")
    keep(project.root, NOISY)
    done = project.guard("check")
    assert done.returncode == 2
    assert "trace_tolerance: wanted at least 0.12 %" in done.stderr


def test_bench_says_that_graphs_differ_from_themselves(root: Path) -> None:
    config = configured(root, None)
    assert run_noise(config) is None
    quiet, noisy = (
        aa.ratios([(Paired("main", ratio=Ratio(ratio, 1e-3, 1e-3, None)), False)]) for ratio in (1.04, 1.08)
    )
    keep(root, replace(NOISY, measures=(quiet,)))
    assert run_noise(config) is None
    keep(root, replace(NOISY, measures=(noisy,)))
    assert "up to 8 %" in str(run_noise(config))


def test_what_was_measured_is_kept_before_a_tolerance_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "_measured", lambda *_: NOISY)
    configured(root, 0.001)
    with pytest.raises(UsageError, match="wanted at least"):
        verb.compare_with_itself(SelftestOptions(aa=20), 20)
    assert aa.parse((root / ".guard" / "cache" / aa.FILE).read_text()) == NOISY
    configured(root, None)
    assert verb.compare_with_itself(SelftestOptions(aa=20), 20) == 0
    alarm = AA(current(), "torch", 20, (aa.counts([10_000], [10_200], 0.01),))
    monkeypatch.setattr(verb, "_measured", lambda *_: alarm)
    assert verb.compare_with_itself(SelftestOptions(aa=20, format="json"), 20) == 1


def test_a_process_that_fails_is_an_error_with_its_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aa_process, "_BOOT", "raise SystemExit('no torch here')")
    with pytest.raises(GuardError, match="a process of selftest --aa failed: no torch here"):
        aa_process.run(0, None)


@pytest.mark.prove
def test_baselines_are_compared_with_themselves(project: Project) -> None:
    done = project.guard("selftest", "--aa", "2", timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split("  ")[0] for line in done.stdout.splitlines()[1:4]] == ["graph cost", "trace cost", "run cost"]
    found = aa.parse((project.root / ".guard" / "cache" / aa.FILE).read_text())
    assert found is not None
    assert [one.compared for one in found.measures[:2]] == [12, 12]

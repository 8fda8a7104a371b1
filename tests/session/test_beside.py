"""--guard-bench: checks as benchmarks of pytest-benchmark, baseline's graph beside current's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.project import FAKE

if TYPE_CHECKING:
    import subprocess

    from tests.project import Project

pytest.importorskip("pytest_benchmark")

# the fake tracer stays; what runs graphs asks the real room for the state that it must leave alone
CONFTEST = f"""{FAKE}
import os
import guard
sys.modules["guard.tracers"].__path__ = [os.path.join(guard.__path__[0], "tracers")]
"""
CHECKS = """
from guard import MakeFx

def test_holds(guard):
    import torch

    torch.manual_seed(7)
    before = torch.get_rng_state()
    guard.check(lambda: ["aten.sin.default"], tracer=MakeFx())
    assert torch.equal(before, torch.get_rng_state())

def test_drifts(guard):
    guard.check(lambda: ["aten.cos.default", "aten.neg.default"], tracer=MakeFx())

def test_two(guard):
    guard.check(lambda: ["aten.sin.default"], tracer=MakeFx(), name="first")
    guard.check(lambda: ["aten.exp.default"], tracer=MakeFx())

def test_unknown(guard):
    guard.check(lambda: ["mylib.op.default"], tracer=MakeFx())

def test_own(guard, benchmark):
    benchmark.pedantic(lambda: 1)
    guard.check(lambda: ["aten.sin.default"], tracer=MakeFx())

def test_plain():
    pass
"""


@pytest.fixture
def checked(project: Project) -> Project:
    """A project whose checks hold, but for one that has drifted and one that is new."""
    project.write("checks/conftest.py", CONFTEST)
    project.checks(CHECKS.replace(', "aten.neg.default"', "").replace("test_own", "own"))
    assert project.guard("update", "-k", "not plain").returncode in {0, 1}
    project.checks(CHECKS)
    return project


def run(
    project: Project, *arguments: str, plugins: tuple[str, ...] = ("pytest_benchmark.plugin",)
) -> subprocess.CompletedProcess[str]:
    loaded = [text for name in plugins for text in ("-p", name)]
    return project.pytest(*loaded, "checks", "--guard-bench", "-q", *arguments)


def test_each_check_is_a_benchmark_with_its_baseline_beside_it(checked: Project) -> None:
    done = run(checked, "--benchmark-json=found.json", "--benchmark-autosave")

    found = {
        one["fullname"].rpartition("::")[2]: one
        for one in json.loads((checked.root / "found.json").read_bytes())["benchmarks"]
    }
    assert set(found) == {"test_holds", "test_drifts", "test_two", "test_two#first", "test_own"}, done.stdout
    holds, drifts = found["test_holds"]["extra_info"], found["test_drifts"]["extra_info"]
    assert (holds["check"], holds["drifts"], holds["values"]) == ("it::holds", [], "same values")
    assert (drifts["drifts"], drifts["values"]) == (["structure"], "values differ")
    assert drifts["difference"].startswith("output 0 [0]: wanted ")
    assert drifts["baseline"] > 0 < drifts["ratio"]
    assert holds["trace_cost"] is None
    assert found["test_holds"]["stats"]["rounds"] >= 50
    assert found["test_two#first"]["extra_info"]["check"] == "it::two#first"
    assert found["test_own"]["extra_info"] == {}
    # the run's own result is that of a run without the option
    said = done.stdout
    assert '"it::holds": holds, same values, ' in said
    assert '"it::drifts": structure drift, values differ, ' in said
    assert '"it::unknown": no run cost: no operator "mylib.op.default" is registered here' in said
    assert '"it::own": no run cost: there is no baseline' in said
    assert "2 failed, 4 passed" in said
    _compare(checked)


def _compare(project: Project) -> None:
    """What was saved is compared with: the names stay the same."""
    done = run(project, "-k", "holds or plain", "--benchmark-only", "--benchmark-compare")

    assert "Comparing against benchmarks from: " in done.stdout + done.stderr
    assert "test_holds (NOW)" in done.stdout
    assert "test_holds (0001_" in done.stdout
    assert "1 passed, 1 skipped" in done.stdout


def test_where_nothing_can_be_timed_it_is_a_usage_error(project: Project) -> None:
    project.checks(CHECKS)

    absent, workers = run(project, plugins=()), run(project, "-n2", plugins=("pytest_benchmark.plugin", "xdist"))

    assert (absent.returncode, workers.returncode) == (4, 4)
    assert "wanted pytest-benchmark, which is not loaded; pip install pytest-benchmark" in absent.stderr
    assert "workers of pytest-xdist disturb each other's times; add -n0" in workers.stderr


def test_guard_check_says_where_it_works(project: Project) -> None:
    project.checks(CHECKS)

    done = project.guard("check", "--", "--guard-bench")

    assert done.returncode == 2
    assert "guard check runs in workers; run: pytest checks --guard-bench" in done.stderr

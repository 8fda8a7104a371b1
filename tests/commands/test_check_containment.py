"""A check that ends its process, or does not end, is one finding; the others are unharmed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.project import Project

BAD = """
import ctypes, itertools, os, time
import pytest

def abort(): os.abort()
def segfault(): ctypes.string_at(0)
def leave(): os._exit(0)
def sleep(): time.sleep(1000)
def spin():
    while True: pass
def hold_gil(): sum(itertools.repeat(1))

@pytest.mark.parametrize("number", range(20))
def test_good(guard, number): guard.check(lambda: ["aten.sin.default"], tracer=None)

def test_abort(guard): guard.check(abort, tracer=None)
def test_segfault(guard): guard.check(segfault, tracer=None)
def test_leave(guard): guard.check(leave, tracer=None)
def test_sleep(guard): guard.check(sleep, tracer=None)
def test_spin(guard): guard.check(spin, tracer=None)
def test_hold_gil(guard): guard.check(hold_gil, tracer=None)
"""


def test_six_ways_to_die_beside_twenty_that_hold(project: Project) -> None:
    project.checks(BAD)
    assert project.guard("update", "-k", "good").returncode == 0
    ran = project.guard("check", "--timeout", "2", "-n", "2", "--format", "json")
    assert ran.returncode == 1, ran.stderr
    run = json.loads(ran.stdout)
    assert run["counts"] == {"holds": 20, "crash": 3, "timeout": 3}
    findings = {outcome["check"]: outcome["findings"][0] for outcome in run["outcomes"] if outcome["findings"]}
    assert {check: finding["title"] for check, finding in findings.items()} == {
        "it::abort": "SIGABRT while tracing",
        "it::segfault": "SIGSEGV while tracing",
        "it::leave": "exit 0 without a result while tracing",
        "it::sleep": "no end after 2 s while tracing",
        "it::spin": "no end after 2 s while tracing",
        "it::hold_gil": "no end after 2 s, and no return to Python, while tracing",
    }
    lines = project.root.joinpath("checks/test_it.py").read_text().splitlines()
    named = {check: finding["source"] for check, finding in findings.items() if check != "it::leave"}
    for check, source in named.items():
        path, _, line = source.partition(":")
        function = check.removeprefix("it::")
        nearest = next(text for text in reversed(lines[: int(line)]) if text.startswith("def "))
        assert (path, nearest.split("(")[0]) == ("checks/test_it.py", f"def {function}")
    assert not list(project.root.glob(".guard/run/*"))
    assert run["seconds"] < 60

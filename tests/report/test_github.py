"""Annotations: on the check's line, escaped right, ten at most."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import unquote

from guard.findings import Finding, Outcome, Run
from guard.report.github import MOST, as_log, command, commands

DRIFT = Finding("drift", "a::b", "structure, +1 node", ("+ %2: f32[4]", "- %1"), 'guard accept "a::b"', "model.py:7")
ONE = Run((Outcome("a::b", "checks/test_a.py::test_b", (DRIFT,), source="checks/test_a.py:12"),))
COMMAND = re.compile(r"::(error|warning)(?: ((?:\w+=[^,:]*,?)+))?::(.*)")


def spoken(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as the runner does: properties end at a comma, the command at the first ``::``."""
    match = COMMAND.fullmatch(line)
    assert match is not None, line
    pairs = [pair.partition("=") for pair in (match[2] or "").split(",") if pair]
    return match[1], {key: unquote(value) for key, _, value in pairs}, unquote(match[3])


def many(number: int, warned: int = 0) -> Run:
    crash = [Finding("crash", f"a::{n:02}", f"SIGSEGV {n}") for n in range(number)]
    failing = [Outcome(one.check, f"checks/test_a.py::test_{one.check[3:]}", (one,)) for one in crash]
    passing = [Outcome(f"w::{n}", "n", warned=(replace(DRIFT, check=f"w::{n}", title=str(n)),)) for n in range(warned)]
    return Run((*failing, *passing))


def test_the_annotation_is_on_the_check_s_line_and_says_what_and_how_to_accept() -> None:
    (line,) = commands(ONE)
    level, where, message = spoken(line)
    assert (level, where) == ("error", {"file": "checks/test_a.py", "line": "12", "title": 'drift: "a::b"'})
    assert message.splitlines() == ["structure, +1 node", "+ %2: f32[4]", "- %1", 'guard accept "a::b"']


def test_a_project_below_the_repository_s_root_is_found_there() -> None:
    assert "file=sub/a b/checks/test_a.py," in next(commands(ONE, "sub/a b/"))


def test_where_the_line_is_not_known_the_file_is() -> None:
    crash = Outcome("a::b", "checks/test_a.py::test_b", (Finding("crash", "a::b", "SIGSEGV"),))
    orphan = Outcome(
        "a::c", "x", (Finding("orphan", "a::c", "a baseline without a check", source="baselines/a/c.graph"),)
    )
    nowhere = Outcome("", "", (Finding("internal", "", "pytest ended"),))
    found = [spoken(line)[1] for line in commands(Run((orphan, crash, nowhere)))]
    assert found == [
        {"title": "internal"},
        {"file": "checks/test_a.py", "line": "1", "title": 'crash: "a::b"'},
        {"file": "baselines/a/c.graph", "line": "1", "title": 'orphan: "a::c"'},
    ]


def test_values_of_any_kind_are_one_line_and_one_command() -> None:
    odd = "%0A a,b:c::error file=x::\r\n::set-env name=x::y"
    assert command("error", odd, file=odd, title="") == (
        "::error file=%250A a%2Cb%3Ac%3A%3Aerror file=x%3A%3A%0D%0A%3A%3Aset-env name=x%3A%3Ay::"
        "%250A a,b:c::error file=x::%0D%0A::set-env name=x::y"
    )
    assert spoken(command("error", odd, file=odd)) == ("error", {"file": odd}, odd)


def test_a_hostile_check_cannot_speak_to_the_runner() -> None:
    bad = Finding("failed", "a::b", "::error::x", ("::add-mask::a", "  ::stop-commands::x"), "::warning::y")
    run = Run((Outcome("a::b", "checks/test_a.py::test_b", (bad,)),), notes=("::notice::z",))
    lines = as_log(run, word="t0ken").splitlines()
    assert lines[0] == "::stop-commands::t0ken"
    end = lines.index("::t0ken::")
    assert any(line.lstrip().startswith("::add-mask") for line in lines[1:end])
    assert [line.split("::")[1].split(" ")[0] for line in lines[end + 1 :]] == ["error"]
    assert "t0ken" not in "\n".join(lines[1:end])


def test_ten_at_most_worst_first_and_the_last_says_how_many_more() -> None:
    assert len(list(commands(many(MOST)))) == MOST
    lines = list(commands(many(MOST + 1, warned=4)))
    assert len(lines) == MOST
    assert spoken(lines[-1]) == ("error", {"title": "guard"}, "and 6 more: see the summary of this job")
    assert spoken(lines[0])[2] == "SIGSEGV 0"


def test_what_policy_lets_pass_is_a_warning() -> None:
    found = [spoken(line)[0] for line in commands(many(1, warned=2))]
    assert found == ["error", "warning", "warning"]


def test_one_cause_in_many_checks_is_one_annotation() -> None:
    outcomes = [Outcome(f"a::{n}", "n", (replace(DRIFT, check=f"a::{n}"),)) for n in range(40)]
    (line,) = commands(Run(tuple(outcomes)))
    assert spoken(line)[1]["title"] == 'drift: "a::0" and 39 more'


def test_a_run_that_fails_without_a_finding_says_so() -> None:
    assert [spoken(line) for line in commands(Run())] == [("error", {"title": "guard"}, "nothing was checked in 0.0 s")]
    assert list(commands(Run((Outcome("a::b", "n"),)))) == []

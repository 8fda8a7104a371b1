"""One cause in many checks: what makes it one, and how it is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guard.findings import Finding, Outcome, Run
from guard.report.groups import grouped, listed
from guard.report.terminal import render

ROWS = (
    "  %0: f32[4] = aten.sin.default(%a)",
    "- %1: f32[4] = aten.cos.default(%0)",
    "+ %1: f32[4] = aten.tan.default(%0)          checks/test_a.py:31",
)


def drift(check: str, *lines: str, title: str = "structure, cos -> tan", by: str = "", kind: str = "drift") -> Finding:
    drift = "structure" if kind == "drift" else ""
    return Finding(kind, check, title, lines or ROWS, f'guard accept "{check}"', "checks/test_a.py:31", drift, by)


def outcome(*findings: Finding, warned: tuple[Finding, ...] = ()) -> Outcome:
    check = (*findings, *warned)[0].check
    return Outcome(check, f"checks/{check}", findings, warned=warned)


OTHER_NAMES = (
    "  %7: f32[4] = aten.exp.default(%a)",
    '- %"x.1": f32[4] = aten.cos.default(%7)',
    "+ %8: f32[4] = aten.tan.default(%7)  checks/test_b.py:2",
    "torch 2.13.0 -> 2.14.1; no source changed since 1a2b3c4",
)


@pytest.mark.parametrize(
    ("other", "groups"),
    [
        (drift("a::c"), 1),
        (drift("a::c", *OTHER_NAMES), 1),
        (drift("a::c", *ROWS, "+ %2: f32[4] = aten.tan.default(%1)"), 2),
        (drift("a::c", ROWS[0], ROWS[1].replace("f32[4]", "f32[5]"), ROWS[2]), 2),
        (drift("a::c", title="structure, cos -> sinh"), 2),
        (drift("a::c", by="torch"), 2),
        (drift("a::c", kind="error"), 2),
        (replace(drift("a::c"), drift="order"), 2),
    ],
    ids=["equal", "names, places, context", "a row more", "type", "title", "who", "kind", "class"],
)
def test_what_is_one_cause(other: Finding, groups: int) -> None:
    assert len(grouped([drift("a::b"), other])) == groups


@pytest.mark.parametrize("kind", ["crash", "missing", "failed", "timeout"])
def test_what_reads_alike_need_not_be_one_cause(kind: str) -> None:
    assert len(grouped([drift("a::b", kind=kind), drift("a::c", kind=kind)])) == 2


def test_a_cause_is_shown_once_with_its_checks() -> None:
    alike = [outcome(drift(f"a::{name}")) for name in "cbd"]
    run = Run((*alike, outcome(drift("a::e", by="code"))), seconds=1)
    assert render(run) == (
        'drift: "a::b" and 2 more - structure, cos -> tan\n'
        "    %0: f32[4] = aten.sin.default(%a)\n"
        "  - %1: f32[4] = aten.cos.default(%0)\n"
        "  + %1: f32[4] = aten.tan.default(%0)          checks/test_a.py:31\n"
        "  the same in\n"
        '    "a::c"\n'
        '    "a::d"\n'
        '  intended? guard accept "a::b" "a::c" "a::d"\n'
        'drift: "a::e" - structure, cos -> tan\n'
        "    %0: f32[4] = aten.sin.default(%a)\n"
        "  - %1: f32[4] = aten.cos.default(%0)\n"
        "  + %1: f32[4] = aten.tan.default(%0)          checks/test_a.py:31\n"
        '  intended? guard accept "a::e"\n'
        "4 drifts in 1.0 s\n"
    )
    verbose = render(run, verbose=True)
    assert verbose.count("aten.tan") == 2
    assert 'drift: "a::c" - structure, cos -> tan\ndrift: "a::d" - structure, cos -> tan\n' in verbose


def test_many_checks_are_counted_and_reviewed() -> None:
    text = render(Run(tuple(outcome(drift(f"a::b{number:02}")) for number in range(12)), seconds=1))
    assert 'drift: "a::b00" and 11 more - ' in text
    assert '    "a::b08"\n    and 3 more\n  intended? guard review\n' in text
    assert listed(("a::b",) * 8) == ('"a::b"',) * 8


def test_a_check_that_moved_twice_is_accepted_once() -> None:
    text = render(Run((outcome(drift("a::b"), drift("a::b", title="order, swapped")),), seconds=1))
    assert text.count("intended?") == 1
    assert text.endswith('  intended? guard accept "a::b"\n1 drift in 1.0 s\n')


def test_what_policy_lets_pass() -> None:
    warned = replace(drift("a::b"), reason="torch is moving")
    ignored = replace(drift("a::c", title="order, swapped"), reason="harmless")
    run = Run((outcome(warned=(warned,)), Outcome("a::c", "n", ignored=(ignored,)), outcome(drift("a::d"))), seconds=1)
    text = render(run)
    assert text.index('drift: "a::d" - ') < text.index('warning, drift: "a::b" - structure, cos -> tan\n')
    assert "  policy lets it pass: torch is moving\n" in text
    assert text.endswith("2 hold (1 with a warning), 1 drift in 1.0 s\n")
    assert "a::c" not in text
    assert 'ignored drift: "a::c" - order, swapped (harmless)\n' in render(run, verbose=True)

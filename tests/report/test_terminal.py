from __future__ import annotations

import io

import pytest

from guard.findings import Finding, Outcome, Run
from guard.report import color
from guard.report.terminal import render, render_finding

ID = "nested_trace::expand_in_function_mode[symbolic-real]"
DRIFT = Finding(
    kind="drift",
    check=ID,
    title="+3 nodes",
    lines=("+ %2: f32[4] = aten.detach.default(%b)          checks/test_nested_trace.py:31",),
    fix=f'guard accept "{ID}"',
    source="checks/test_nested_trace.py:31",
)
DRIFT_TEXT = f"""\
drift: "{ID}" - +3 nodes
  + %2: f32[4] = aten.detach.default(%b)          checks/test_nested_trace.py:31
  intended? guard accept "{ID}"
"""


def outcome(check: str, *findings: Finding, skipped: str | None = None, notes: tuple[str, ...] = ()) -> Outcome:
    return Outcome(check, f"checks/test_{check}", findings, skipped=skipped, notes=notes, seconds=0.31)


def test_the_shape_of_a_finding() -> None:
    assert render_finding(DRIFT) == DRIFT_TEXT


def test_holds_are_silent_and_worst_comes_first() -> None:
    crash = Finding("crash", "z::z", "SIGABRT while tracing", source="checks/test_z.py:3")
    run = Run((outcome("a::a"), outcome(ID, DRIFT), outcome("z::z", crash)), seconds=41, notes=("PATH is odd",))
    assert render(run) == (
        'crash: "z::z" - SIGABRT while tracing\n'
        "  at checks/test_z.py:3\n"
        f"{DRIFT_TEXT}"
        "note: PATH is odd\n"
        "1 holds, 1 crash, 1 drift in 41 s\n"
    )


def test_the_order_of_workers_does_not_show() -> None:
    found = [outcome(check, Finding("missing", check, "no baseline")) for check in ("a::b", "a::a", "b::a")]
    assert render(Run(tuple(found))) == render(Run(tuple(reversed(found))))


def test_verbose_lists_the_rest() -> None:
    needing = Outcome("a::b", "n", needs=("nested-isolation",), seconds=0.31)
    run = Run((needing, outcome("a::c", skipped="no GPU")), seconds=1)
    assert render(run, verbose=True) == (
        'skipped: "a::c" - no GPU\n'
        'holds: "a::b", needs fix nested-isolation in 0.3 s\n'
        "1 holds (1 needs a fix), 1 skipped in 1.0 s\n"
    )
    assert render(run) == "1 holds (1 needs a fix), 1 skipped in 1.0 s\n"


def test_notes_of_a_check_that_holds_show() -> None:
    assert 'note: "a::b" - needs a fix\n' in render(Run((outcome("a::b", notes=("needs a fix",)),)))


def test_ids_can_be_pasted() -> None:
    finding = Finding("missing", "a::b['$x']", "no baseline")
    assert render_finding(finding) == "missing: 'a::b['\"'\"'$x'\"'\"']' - no baseline\n"


def test_a_finding_of_no_check_has_no_id() -> None:
    finding = Finding("import", "", "checks/test_a.py does not import", ("NameError: x",), source="checks/test_a.py:3")
    assert render_finding(finding) == (
        "import: checks/test_a.py does not import\n  NameError: x\n  at checks/test_a.py:3\n"
    )


def test_hostile_text_stays_text() -> None:
    finding = Finding("error", "a::b", "\x1b[2J\r", ("one\ntwo\x07",), fix="x\x9b")
    text = render_finding(finding, color=False)
    assert text == 'error: "a::b" - \\x1b[2J\\x0d\n  one\n  two\\x07\n  intended? x\\x9b\n'


def test_colour_is_only_paint() -> None:
    painted = render(Run((outcome(ID, DRIFT),)), color=True)
    assert "\x1b[1;33mdrift\x1b[0m" in painted
    assert "\x1b[32m+ %2" in painted
    for code in ("\x1b[1;33m", "\x1b[1;31m", "\x1b[32m", "\x1b[0m"):
        painted = painted.replace(code, "")
    assert painted == render(Run((outcome(ID, DRIFT),)))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
    ids=["terminal", "empty NO_COLOR", "NO_COLOR", "dumb", "pipe"],
)
def test_who_wants_colour(stream: io.StringIO, environ: dict[str, str], *, wanted: bool) -> None:
    assert color.wanted(stream, environ) is wanted

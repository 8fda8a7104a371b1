"""Progress goes to stderr: a bar on a terminal, a few lines elsewhere, nothing in a short run."""

from __future__ import annotations

import io

from guard.commands.progress import Bar, Lines, Progress, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_lines_are_rare_and_a_short_run_has_none() -> None:
    clock, stream = Clock(), io.StringIO()
    lines = Lines(stream, clock)
    for second in range(30):
        clock.now = float(second)
        lines.tell(second, 40)
    assert stream.getvalue() == "5 of 40 checks done\n15 of 40 checks done\n25 of 40 checks done\n"


def test_the_last_check_needs_no_line() -> None:
    clock, stream = Clock(), io.StringIO()
    lines = Lines(stream, clock)
    clock.now = 100.0
    lines.tell(40, 40)
    assert stream.getvalue() == ""


def test_the_stream_decides() -> None:
    assert type(progress(io.StringIO(), quiet=False, dumb=False)) is Lines
    assert type(progress(Terminal(), quiet=False, dumb=True)) is Lines
    assert type(progress(Terminal(), quiet=True, dumb=False)) is Progress


def test_a_bar_moves_and_goes_away() -> None:
    stream = Terminal()
    with progress(stream, quiet=False, dumb=False) as bar:
        assert type(bar) is Bar
        bar.tell(3, 7)
    told = stream.getvalue()
    assert "3/7" in told
    assert told.endswith(("\x1b[2K", "\x1b[?25h"))

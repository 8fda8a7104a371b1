"""The line of the user's code that a capture error is about. Reads source lines through linecache only."""

from __future__ import annotations

import functools
import inspect
import linecache
import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from guard.ir.lower.sources import relative
from guard.tracers.errors.chain import Frame
from guard.tracers.errors.places import is_guard, is_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

    from guard.tracers.errors.chain import Link

_TOLD = re.compile(r'File "([^"\n]+)", line (\d+)')
_MARKS = ("from user code:", "Original traceback:", "User stack:")


class UserLine(NamedTuple):
    """One line of the user's code."""

    source: str
    """``path:line``, relative to the working directory where possible."""
    code: str
    """The line's text, blanks collapsed."""
    exact: bool
    """False where only the program's first line is known."""


def find_user_line(links: Sequence[Link], telling: Link, kind: str, program: object | None) -> UserLine | None:
    """Find the user's innermost line, by what knows it best.

    Dynamo's own record of the user's stack, a stack that torch quotes in its message (torch.fx.Interpreter, Dynamo's
    constraints), the traceback of the telling exception and of the others, and last the first line of the program
    itself: a partitioner has no line of the user's on its stack.
    """
    ordered = [telling, *(link for link in links if link is not telling)]
    for stack in _stacks(ordered):
        frames = [frame for frame in stack if is_user(frame.path)]
        if frames:
            frame = _repeated(frames) if kind == "recursion" else frames[-1]
            return _line(frame.path, frame.line, exact=True)
    return _definition(program)


def _stacks(links: Sequence[Link]) -> Iterator[Sequence[Frame]]:
    yield from (link.stack for link in links)
    yield from (_quoted(link.text) for link in links)
    yield from (_below_guard(link.frames) for link in links)


def _below_guard(frames: Sequence[Frame]) -> Sequence[Frame]:
    """Drop what called guard: the test's own line is not the program's."""
    first = next((i for i, frame in enumerate(frames) if is_guard(frame.path)), None)
    return frames if first is None else frames[first:]


def _quoted(text: str) -> list[Frame]:
    starts = [text.find(mark) for mark in _MARKS if mark in text]
    if not starts:
        return []
    return [Frame(path, int(line), "") for path, line in _TOLD.findall(text, min(starts))]


def _repeated(frames: Sequence[Frame]) -> Frame:
    """Where the recursion starts: the innermost frame depends on how deep the stack already was."""
    counts = Counter(frames)
    return next((frame for frame in frames if counts[frame] > 1), frames[-1])


def _line(path: str, number: int, *, exact: bool) -> UserLine:
    return UserLine(f"{relative(path)}:{number}", _text(path, number), exact)


def _text(path: str, number: int) -> str:
    with suppress(OSError, ValueError):  # a path with a null byte
        return " ".join(linecache.getline(path, number).split())
    return ""


def _definition(program: object | None) -> UserLine | None:
    code = _code_of(program)
    if code is None or not is_user(code.co_filename):
        return None
    first = code.co_firstlineno
    # The first line of a decorated function is its decorator's.
    numbers = (n for n in range(first, first + 20) if re.search(r"\b(def|lambda)\b", _text(code.co_filename, n)))
    return _line(code.co_filename, next(numbers, first), exact=False)


def _code_of(program: object | None) -> CodeType | None:
    with suppress(Exception):  # anything callable may be a program, with any attribute
        while isinstance(program, functools.partial):
            program = program.func
        for candidate in (program, getattr(type(program), "forward", None), type(program).__call__):
            code = getattr(inspect.unwrap(candidate), "__code__", None) if callable(candidate) else None
            if inspect.iscode(code):
                return code
    return None

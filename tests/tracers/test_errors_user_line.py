from __future__ import annotations

import functools
import json
import runpy
import sys
import traceback
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from guard.tracers.errors import classify
from guard.tracers.errors.places import is_guard, is_user, place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from guard.ir.graph import CaptureError

X = torch.ones(3)


def error_of(call: Callable[..., Any], *args: Any, program: Any = None) -> CaptureError:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any will do
        call(*args)
    return classify(caught.value, program=program)


def helper(x: Any) -> Any:
    return x.nope()


def calls_helper(x: Any) -> Any:
    return helper(x) + 1


def calls_standard_library(_: Any) -> Any:
    return json.loads("{")


def test_innermost_line_of_the_user_is_named() -> None:
    error = error_of(make_fx(calls_helper), X)
    assert error.code == "return x.nope()"
    source, _, line = (error.source or "").rpartition(":")
    assert source == "tests/tracers/test_errors_user_line.py"
    assert int(line) == helper.__code__.co_firstlineno + 1


def test_standard_library_is_no_users_line() -> None:
    assert error_of(calls_standard_library, X).code == 'return json.loads("{")'


def test_line_outside_of_the_working_directory_keeps_its_path(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("def f(x):\n    return x.nope()\n")
    error = error_of(runpy.run_path(str(script))["f"], X)
    assert error.source == f"{script.as_posix()}:2"
    assert error.code == "return x.nope()"


def test_fingerprint_survives_a_moved_line_and_not_another_one(tmp_path: Path) -> None:
    texts = {
        "plain": "def f(x):\n    return x.nope()\n",
        "moved": "# a comment\n\n\ndef f(x):\n    y = x\n    return   x.nope()\n",
        "other": "def f(x):\n    return x.nada()\n",
    }
    seen = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
        seen[name] = error_of(runpy.run_path(str(tmp_path / f"{name}.py"))["f"], X).fingerprint
    assert seen["plain"] == seen["moved"]
    assert seen["plain"] != seen["other"]


def one(x: Any) -> Any:
    return two(x)


def two(x: Any) -> Any:
    return one(x)


def deeper(depth: int) -> Any:
    return deeper(depth - 1) if depth else one(X)


def test_recursion_is_told_by_where_it_starts() -> None:
    # The innermost frame is one's or two's, as the depth of the stack has it.
    limit = sys.getrecursionlimit()
    seen = set()
    try:
        for extra in (0, 1):
            sys.setrecursionlimit(limit + extra)
            seen.add(error_of(one, X).code)
    finally:
        sys.setrecursionlimit(limit)
    assert seen == {"return two(x)"}


def _raise_outside(_: Any) -> None:
    code = compile("raise RuntimeError('somewhere else')", "<generated>", "exec")
    exec(code)  # noqa: S102 - a frame that is nobody's file


class Module(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x


@functools.cache
def decorated(x: Any) -> Any:
    return x


class Callable_:  # noqa: N801 - an instance that is called
    def __call__(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (helper, "def helper(x: Any) -> Any:"),
        (functools.partial(functools.partial(helper)), "def helper(x: Any) -> Any:"),
        (Module(), "def forward(self, x: Any) -> Any:"),
        (Module().forward, "def forward(self, x: Any) -> Any:"),
        (decorated, "def decorated(x: Any) -> Any:"),
        (Callable_(), "def __call__(self, x: Any) -> Any:"),
    ],
)
def test_program_stands_in_where_no_line_is_known(program: Any, code: str) -> None:
    error = RuntimeError("no traceback")
    assert classify(error, program=program).code == code


@pytest.mark.parametrize("program", [None, 3, torch.sin, torch.nn.Linear(2, 2), json.loads, type("Odd", (), {})()])
def test_program_that_is_not_the_users_stands_in_for_nothing(program: Any) -> None:
    found = classify(RuntimeError("no traceback"), program=program)
    assert (found.code, found.source) == ("", None)


def test_lines_above_guard_are_the_tests_not_the_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracer = tmp_path / "guard" / "tracer.py"
    tracer.parent.mkdir()
    tracer.write_text("def trace(program):\n    return program({})\n")
    monkeypatch.setattr("guard.tracers.errors.places._GUARD", str(tracer.parent))
    trace = runpy.run_path(str(tracer))["trace"]
    assert error_of(trace, json.dumps.__class__, program=helper).code == "def helper(x: Any) -> Any:"
    assert error_of(trace, helper).code == "return x.nope()"


def test_stack_quoted_in_a_message_is_used() -> None:
    text = f'failed\n\nfrom user code:\n   File "{__file__}", line {helper.__code__.co_firstlineno + 1}, in helper\n'
    assert classify(RuntimeError(text)).code == "return x.nope()"


def test_places() -> None:
    assert place(torch._ops.__file__, "__call__") == "torch/_ops.py:__call__"
    assert place("/elsewhere/site-packages/torch/_ops.py", "__call__") == "torch/_ops.py:__call__"
    assert place(__file__, "f") == "<user>"
    assert place(pytest.__file__, "f") == ""
    assert place(json.__file__, "f") == ""
    assert place("<eval_with_key>.1", "forward") == ""
    assert is_guard(is_user.__code__.co_filename)
    assert not is_user(is_user.__code__.co_filename)


def test_stack_that_dynamo_attached_is_used_without_torchs_own_frames() -> None:
    line = helper.__code__.co_firstlineno + 1
    error = RuntimeError("no words")
    error.real_stack = traceback.StackSummary.from_list(  # type: ignore[attr-defined]
        [
            (__file__, 1, "outer", ""),
            (__file__, line, "helper", ""),
            (torch._ops.__file__, 7, "cond", ""),
        ]
    )
    assert classify(error).code == "return x.nope()"

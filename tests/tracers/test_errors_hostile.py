"""classify never raises, whatever it is given; and what is no result of a capture is not called one."""

from __future__ import annotations

import asyncio
import builtins
import unittest
from typing import Any

import pytest

from guard.errors import UsageError
from guard.tracers.errors import classify, is_capture_error
from guard.tracers.errors.chain import MAX_LINKS, read_chain

Group: Any = getattr(builtins, "ExceptionGroup", None)
BaseGroup: Any = getattr(builtins, "BaseExceptionGroup", None)
GROUPS = pytest.mark.skipif(Group is None, reason="exception groups came with Python 3.11")


class TextError(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class AttributesError(Exception):
    @property
    def real_stack(self) -> Any:
        raise ValueError

    @property
    def func(self) -> Any:
        raise ValueError

    @property
    def exceptions(self) -> Any:
        raise ValueError


class OddAttributesError(Exception):
    real_stack = 7
    func = TextError()
    exceptions = ("no exception", 3)


class BareBase(BaseException):
    pass


@pytest.mark.parametrize("hostile", [TextError(), AttributesError("a"), OddAttributesError("b"), BareBase("c")])
def test_hostile_exception_is_classified(hostile: BaseException) -> None:
    found = classify(hostile)
    assert found.kind == "other"
    assert found.line.startswith(type(hostile).__name__)


def test_ctrl_c_inside_a_message_is_not_swallowed() -> None:
    class InterruptedTextError(Exception):
        def __str__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        classify(InterruptedTextError())


@pytest.mark.parametrize(
    "text", ["x" * 10_000_000, "a/" * 5_000_000, "\n" * 10_000_000, "<" * 1_000_000, "(s1 " * 2_000_000]
)
@pytest.mark.timeout(60)  # measured: under 0.1 s; a pattern that backtracks would take hours
def test_huge_message_is_read_to_a_short_line(text: str) -> None:
    assert len(classify(RuntimeError(text)).line) <= 160


def test_cyclic_causes_end() -> None:
    a, b = ValueError("a"), KeyError("b")
    a.__cause__, b.__cause__ = b, a
    b.__context__ = a
    assert [link.name for link in read_chain(a)] == ["ValueError", "KeyError"]
    assert classify(a).line == "ValueError: a"


def test_endless_causes_end() -> None:
    first = error = ValueError("0")
    for n in range(1, 1000):
        error.__cause__ = ValueError(str(n))
        error = error.__cause__
    assert len(read_chain(first)) == MAX_LINKS
    assert classify(first).kind == "other"


def test_program_that_raises_when_looked_at() -> None:
    class Program:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert classify(ValueError("a"), program=Program()).kind == "other"


@GROUPS
def test_member_of_a_group_tells() -> None:
    group = Group("two", [ValueError("a"), RecursionError("deep")])
    found = classify(group)
    assert (found.kind, found.line) == ("recursion", "RecursionError: deep")


def _outcome(call: Any) -> BaseException:
    try:
        call("because")
    except BaseException as error:  # noqa: BLE001 - pytest's outcomes are no Exceptions
        return error
    raise AssertionError


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        SystemExit(1),
        GeneratorExit(),
        asyncio.CancelledError(),
        unittest.SkipTest("no"),
        UsageError("guard's own"),
        _outcome(pytest.skip),
        _outcome(pytest.fail),
        _outcome(pytest.exit),
        _outcome(pytest.xfail),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_no_result_of_a_capture(error: BaseException) -> None:
    assert not is_capture_error(error)


@pytest.mark.parametrize(
    "error", [ValueError(), AssertionError(), RecursionError(), MemoryError(), BareBase(), TextError()]
)
def test_what_is_a_result_of_a_capture(error: BaseException) -> None:
    assert is_capture_error(error)


@GROUPS
def test_group_with_an_interrupt_is_no_result() -> None:
    assert not is_capture_error(BaseGroup("two", [ValueError(), KeyboardInterrupt()]))
    assert is_capture_error(Group("two", [ValueError(), KeyError()]))

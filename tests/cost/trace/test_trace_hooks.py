"""Both hooks count the same: the monitoring one under a ``sys.monitoring`` made of setprofile where Python has none."""

from __future__ import annotations

import sys
import threading
import traceback
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from guard.cost.trace import monitoring_hook, profile_hook
from guard.cost.trace.monitoring_hook import Watch
from guard.cost.trace.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

EVENTS = SimpleNamespace(PY_START=1, PY_RESUME=2, PY_THROW=4, CALL=8, PY_RETURN=16, PY_YIELD=32, PY_UNWIND=64)


class Monitoring:
    """What guard uses of sys.monitoring."""

    events = EVENTS
    DISABLE = object()

    def __init__(self, *taken: int) -> None:
        self.tools: dict[int, str] = dict.fromkeys(taken, "coverage")
        self.callbacks: dict[int, Callable[..., object]] = {}
        self.disabled: set[CodeType] = set()

    def get_tool(self, number: int) -> str | None:
        return self.tools.get(number)

    def use_tool_id(self, number: int, name: str) -> None:
        assert self.tools.setdefault(number, name) == name

    def free_tool_id(self, number: int) -> None:
        del self.tools[number]

    def register_callback(self, _tool: int, event: int, callback: Callable[..., object] | None) -> None:
        if callback is None:
            del self.callbacks[event]
        else:
            self.callbacks[event] = callback

    def restart_events(self) -> None:
        self.disabled.clear()

    def set_events(self, _tool: int, events: int) -> None:
        sys.setprofile(self._dispatch if events else None)

    def _dispatch(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call":
            self.callbacks[EVENTS.PY_START](code, 0)
        elif event == "c_call":
            self.callbacks[EVENTS.CALL](code, 0, arg, None)
        elif event == "return" and code not in self.disabled:
            found = self.callbacks[EVENTS.PY_RETURN](code, 0, arg)
            if found is self.DISABLE:
                self.disabled.add(code)


def counted(name: str, run: Callable[[], object]) -> Tally:
    if name == "profile":
        found = profile_hook.count(run)
    else:
        found = monitoring_hook.count(run, None if hasattr(sys, "monitoring") else Monitoring())
    assert found is not None
    return found


def calls(tally: Tally) -> dict[str, int]:
    """Calls of the functions of this file, but for Monitoring's own."""
    own = Monitoring.set_events.__code__
    return {code.co_name: n for code, n in tally.counted() if code.co_filename == __file__ and n and code is not own}


class Key:
    """Compares by work, and all of its hashes collide."""

    def __init__(self, work: int) -> None:
        self.work = work

    def __hash__(self) -> int:
        return len([self.work])

    def __eq__(self, other: object) -> bool:
        return compared(self.work) and isinstance(other, Key) and self.work == other.work


def compared(work: int) -> bool:
    return [leaf(number) for number in range(work)] != [-1]


def leaf(number: int) -> int:
    return abs(number)


def numbers(count: int) -> Iterator[int]:
    yield from range(count)


def failing() -> None:
    raise ValueError("planted")


def program() -> None:
    leaf(1)
    for number in numbers(3):
        leaf(number)
    str.upper("a")
    sorted([2, 1], key=lambda value: -value)
    try:
        failing()
    except ValueError:
        leaf(2)


@pytest.mark.parametrize("name", ["profile", "monitoring"])
def test_entries_and_c_calls_are_counted_by_the_function_that_makes_them(name: str) -> None:
    tally = counted(name, program)
    # leaf: 5 entries and as many abs; numbers: started, resumed thrice; program: upper, sorted, StopIteration is none
    assert calls(tally) == {"program": 3, "leaf": 10, "numbers": 4, "<lambda>": 2, "failing": 1}


@pytest.mark.parametrize("name", ["profile", "monitoring"])
def test_comparing_and_hashing_is_not_counted_at_any_depth(name: str) -> None:
    keys = [Key(work) for work in range(5)]

    def looks_up() -> None:
        found = {key: key.work for key in keys}  # each insertion compares with those before
        leaf(len(found))

    tally = counted(name, looks_up)
    assert {"__eq__", "__hash__", "compared"} & set(calls(tally)) == set()
    assert calls(tally)["leaf"] == 2


@pytest.mark.parametrize("name", ["profile", "monitoring"])
def test_an_equality_that_raises_ends_what_is_not_counted(name: str) -> None:
    class Bad:
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            raise ValueError

    def looks_up() -> None:
        try:
            {Bad(): 1, Bad(): 2}
        except ValueError:
            leaf(1)

    if name == "monitoring" and not hasattr(sys, "monitoring"):
        tally = Tally()
        watch = Watch(tally, object())
        code, other = Bad.__eq__.__code__, leaf.__code__
        watch.entered(code, 0)
        watch.entered(other, 0)
        watch.unwound(other, 0, ValueError())
        watch.unwound(code, 0, ValueError())
        watch.entered(other, 0)
        assert calls(tally) == {"leaf": 1}
        return
    assert calls(counted(name, looks_up))["leaf"] == 2


@pytest.mark.parametrize("name", ["profile", "monitoring"])
def test_how_deep_a_stack_is_noted_is_not_counted(name: str) -> None:
    def deep(levels: int) -> int:
        if levels:
            return deep(levels - 1)
        return counted(name, lambda: [traceback.extract_stack(), leaf(1)]).calls

    assert deep(0) == deep(40) > 2


@pytest.mark.parametrize("name", ["profile", "monitoring"])
def test_another_threads_calls_are_not_counted(name: str) -> None:
    def starts() -> None:
        other = threading.Thread(target=leaf, args=(1,))
        other.start()
        other.join()

    assert "leaf" not in calls(counted(name, starts))


def test_a_program_that_sets_a_profiler_has_no_count() -> None:
    assert profile_hook.count(lambda: sys.setprofile(None)) is None
    assert sys.getprofile() is None


def test_the_hook_is_taken_away_whatever_the_program_raises() -> None:
    for name in ("profile", "monitoring"):
        with pytest.raises(ValueError, match="planted"):
            counted(name, failing)
        assert sys.getprofile() is None


def test_a_tool_that_is_there_keeps_its_id() -> None:
    monitoring = Monitoring(0, 1)
    found = monitoring_hook.count(lambda: leaf(1), monitoring)
    assert found is not None
    assert monitoring.tools == {0: "coverage", 1: "coverage"}
    assert monitoring.callbacks == {}


def test_without_a_free_id_there_is_no_count() -> None:
    assert monitoring_hook.count(lambda: leaf(1), Monitoring(*range(6))) is None

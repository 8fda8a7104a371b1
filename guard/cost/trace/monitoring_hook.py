"""Count calls by ``sys.monitoring``: Python 3.12 and newer. The same classes of events as by ``sys.setprofile``."""

from __future__ import annotations

import sys
from threading import get_ident
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

from guard.cost.trace.tally import Tally, uncounted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

TOOLS = range(6)
"""Ids that a tool may take."""
C_FUNCTIONS = frozenset({BuiltinFunctionType, MethodDescriptorType})
"""Callables that setprofile tells of as ``c_call``: classes and slots are none."""


def count(run: Callable[[], object], monitoring: Any = None) -> Tally | None:
    """Call ``run`` and count; None where no tool id is free. ``monitoring`` stands for ``sys.monitoring`` in tests."""
    monitoring = monitoring or sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # Python 3.12
    tool = next((number for number in TOOLS if monitoring.get_tool(number) is None), None)
    if tool is None:
        return None
    tally = Tally()
    callbacks = Watch(tally, monitoring.DISABLE).callbacks(monitoring.events)
    monitoring.use_tool_id(tool, "guard")
    try:
        for event, callback in callbacks.items():
            monitoring.register_callback(tool, event, callback)
        monitoring.restart_events()  # what an earlier count had disabled
        monitoring.set_events(tool, sum(callbacks))
        run()
    finally:
        monitoring.set_events(tool, 0)
        for event in callbacks:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    return tally


class Watch:
    """What happens at each event."""

    def __init__(self, tally: Tally, disable: object) -> None:
        self._disable = disable
        self._entries, self._c_calls, self._codes = tally.entries, tally.c_calls, tally.codes
        self._thread = get_ident()  # events come from every thread
        self._inside: int | None = None
        """Id of the code whose frames are not counted, nor what they call."""
        self._depth = 0
        """How many of its own frames are open."""

    def callbacks(self, events: Any) -> dict[int, Callable[..., object]]:
        """Return a callback for each event that is needed."""
        entries = (events.PY_START, events.PY_RESUME, events.PY_THROW)
        exits = (events.PY_RETURN, events.PY_YIELD)
        return {
            **dict.fromkeys(entries, self.entered),
            events.CALL: self.called,
            **dict.fromkeys(exits, self.left),
            events.PY_UNWIND: self.unwound,
        }

    def entered(self, code: CodeType, _offset: int, *_rest: Any) -> None:
        """Count a frame that starts or goes on."""
        if get_ident() != self._thread:
            return
        key = id(code)
        if self._inside is None:
            try:
                self._entries[key] += 1
            except KeyError:
                self._met(code, key)
        elif key == self._inside:
            self._depth += 1

    def _met(self, code: CodeType, key: int) -> None:
        self._codes[key] = code
        if uncounted(code):
            self._inside, self._depth = key, 1
        else:
            self._entries[key] = 1

    def called(self, code: CodeType, _offset: int, function: object, _first: object) -> None:
        """Count the call of a C function."""
        if self._inside is not None or type(function) not in C_FUNCTIONS or get_ident() != self._thread:
            return
        key = id(code)
        try:
            self._c_calls[key] += 1
        except KeyError:
            self._c_calls[key] = 1
            self._codes[key] = code

    def left(self, code: CodeType, _offset: int, _value: object) -> object:
        """Go on counting when the frame that is not counted has ended; where others end is not asked for again."""
        if id(code) in self._entries:
            return self._disable
        self._ended(code)
        return None

    def unwound(self, code: CodeType, _offset: int, _error: object) -> None:
        """Do the same where it raised; this event cannot be disabled."""
        self._ended(code)

    def _ended(self, code: CodeType) -> None:
        if id(code) == self._inside and get_ident() == self._thread:
            self._depth -= 1
            if not self._depth:
                self._inside = None

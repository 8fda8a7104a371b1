"""The user's line of each node, recorded while make_fx creates it by a walk up the frames."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from torch.fx.experimental import proxy_tensor

from guard.ir.lower.sources import SOURCE, relative
from guard.tracers.errors.places import is_user

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType


class Sources:
    """Finds the user's frame; remembers its answer for each code object."""

    def __init__(self) -> None:
        self._kinds: dict[CodeType, int] = {}
        self.files: set[str] = set()

    def line(self, frame: FrameType | None) -> str | None:
        """``path:line`` of the innermost user frame, None where guard's own call is reached first.

        A mode's handler passes every operation on: its line stands only where no program's is around it.
        """
        handler: FrameType | None = None
        while frame is not None:
            kind = self._kinds.get(frame.f_code)
            if kind is None:
                kind = self._kinds[frame.f_code] = self._classify(frame.f_code)
            if kind == _USER:
                return _place(frame)
            if kind == _EDGE:
                break
            if kind == _HANDLER:
                handler = handler or frame
            frame = frame.f_back
        return _place(handler) if handler is not None else None

    def _classify(self, code: CodeType) -> int:
        if code.co_filename == _CAPTURE:
            return _EDGE
        if not is_user(code.co_filename):
            return _SKIP
        self.files.add(code.co_filename)
        return _HANDLER if code.co_name in {"__torch_function__", "__torch_dispatch__"} else _USER


def _place(frame: FrameType) -> str:
    return f"{relative(frame.f_code.co_filename)}:{frame.f_lineno}"


_SKIP, _USER, _EDGE, _HANDLER = range(4)
# Above this file stands the check that called guard: its line is that of guard.check, not of the program.
_CAPTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "capture.py")  # noqa: PTH100, PTH118, PTH120 - as above


@contextlib.contextmanager
def recorded() -> Iterator[Sources]:
    """While open, every node that make_fx creates carries its user line in ``meta``."""
    sources = Sources()
    tracer = proxy_tensor.PythonKeyTracer
    original = tracer.__dict__.get("create_node")
    create = tracer.create_node

    def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = create(self, *args, **kwargs)
        if node.op == "call_function":
            line = sources.line(sys._getframe(1))
            if line is not None:
                node.meta[SOURCE] = line
        return node

    tracer.create_node = create_node
    try:
        yield sources
    finally:
        if original is None:
            del tracer.create_node
        else:
            tracer.create_node = original

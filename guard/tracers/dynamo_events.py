"""Graph breaks and recompiles of torch.compile, each with the user's line."""

from __future__ import annotations

import contextlib
import linecache
import re
from typing import TYPE_CHECKING, Any

from torch._dynamo import convert_frame, output_graph

from guard.ir.graph import Event
from guard.ir.lower.sources import relative
from guard.tracers.errors.places import is_user

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECOMPILES = "get_and_maybe_log_recompilation_reasons"
_PATHS = re.compile(r"(?:/[^\s:'\"]+)+/([^\s/:'\"]+)")
_NOISE = re.compile(r"0x[0-9a-fA-F]+|\bid=\d+|\b\d{6,}\b")


class DynamoEvents:
    """Dynamo's own reasons, from when it is made. What a new torch no longer offers is simply not collected."""

    def __init__(self) -> None:
        self.recompiles: list[str] = []
        self._reasons = getattr(output_graph, "graph_break_reasons", [])
        self._start = len(self._reasons)

    def events(self) -> tuple[Event, ...]:
        """Graph breaks so far, each once: Dynamo may restart its analysis and say one twice."""
        found = [_break_event(reason) for reason in self._reasons[self._start :]]
        return tuple(dict.fromkeys(found))


@contextlib.contextmanager
def collected() -> Iterator[DynamoEvents]:
    """Collect graph breaks and recompiles while open."""
    found = DynamoEvents()
    original = getattr(convert_frame, _RECOMPILES, None)

    def watch(*args: Any, **kwargs: Any) -> Any:
        reasons = original(*args, **kwargs)  # type: ignore[misc]
        found.recompiles.append(str(reasons[0]) if reasons else "")
        return reasons

    if original is None:
        yield found
        return
    setattr(convert_frame, _RECOMPILES, watch)
    try:
        yield found
    finally:
        setattr(convert_frame, _RECOMPILES, original)


def _break_event(reason: Any) -> Event:
    frames = [frame for frame in getattr(reason, "user_stack", ()) or () if is_user(frame.filename)]
    where = frames[-1] if frames else None
    code = (where.line or linecache.getline(where.filename, where.lineno or 0)).strip() if where is not None else ""
    source = f"{relative(where.filename)}:{where.lineno}" if where is not None else None
    return Event("break", telling(str(reason.reason)), code, source)


def recompile_event(reason: str) -> Event:
    """An event from the text of a guard that failed: ``0/0: L['x'].size()[0] == 3  # y = m(x)``."""
    text = re.sub(r"^\d+/\d+: ", "", reason.strip().splitlines()[0] if reason.strip() else "recompiled")
    condition, _, code = text.partition("#")
    return Event("recompile", telling(condition), code.split(" # ")[0].strip())


def telling(reason: str) -> str:
    """First line of a reason, without paths, addresses and ids."""
    line = next((line.strip() for line in reason.splitlines() if line.strip()), "unknown")
    return _NOISE.sub("?", _PATHS.sub(r"\1", line))[:200]

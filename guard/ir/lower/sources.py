"""The user's line of a node, as ``path:line``: a tracer's own record, or torch's stack trace."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

SOURCE = "guard_source"
"""Key of node.meta under which guard's tracers leave ``path:line``."""
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_cache: dict[str, str | None] = {}


def source_of(meta: dict[str, Any]) -> str | None:
    """Source of one node, or None."""
    known = meta.get(SOURCE)
    if known is not None:
        return str(known)
    trace = meta.get("stack_trace")
    if not trace:
        return None
    if trace not in _cache:
        frames = _FRAME.findall(trace)
        _cache[trace] = f"{relative(frames[-1][0])}:{frames[-1][1]}" if frames else None
    return _cache[trace]


def relative(path: str) -> str:
    """Give the path below the working directory, with forward slashes; unchanged where it lies outside."""
    with contextlib.suppress(OSError, ValueError):
        path = str(Path(path).relative_to(Path.cwd()))
    return path.replace("\\", "/")

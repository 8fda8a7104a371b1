"""What two captures that fail alike have in common, as 12 hex digits. Knows no message."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.tracers.errors.chain import Link
    from guard.tracers.errors.user_line import UserLine

_OPERATOR = re.compile(r"\b(?:aten|prims|c10d|_c10d_functional)(?:\.|::)\w+(?:\.\w+)?")


def fingerprint(kind: str, telling: Link, line: UserLine | None) -> str:
    """Hash the class, the user's line and the operator; no words, line numbers or paths.

    So torch may reword its message, and the user may move the line. The operator counts where torch attached it as an
    object; one that is only named in the message counts where no line of the user's is known, for want of better.
    ``program`` and ``other`` say little, so there the nearest built-in class counts too: torch may still subclass it.
    """
    parts = [kind, line.code if line else "", _operator(telling, line), _family(kind, telling)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _operator(telling: Link, line: UserLine | None) -> str:
    if telling.operator or (line and line.exact):
        return telling.operator
    found = _OPERATOR.search(telling.text)
    return found[0].replace("::", ".") if found else ""


def _family(kind: str, telling: Link) -> str:
    if kind not in {"program", "other"}:
        return ""
    return next(name for name in telling.types if "." not in name)

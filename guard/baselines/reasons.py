"""Why baselines were accepted: ``baselines/reasons.toml``, a line a check, reviewed with them. Writes nothing."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.errors import GuardError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE = "reasons.toml"
HEADER = "# Why each baseline is what it is: the reason of its last accept. Written by guard accept --reason.\n"
MOST = 500


def checked(text: str) -> str:
    """Return a reason as it is recorded.

    Raises:
        UsageError: It is empty, has more than one line, or is long.
    """
    reason = text.strip()
    if not reason or not reason.isprintable() or len(reason) > MOST:
        raise UsageError(
            f"wanted a reason of one line of at most {MOST} characters, got {text[:MOST]!r}", '--reason "why"'
        )
    return reason


def parse(data: bytes, shown: str) -> dict[str, str]:
    """Read the file's bytes: check -> reason.

    Raises:
        GuardError: It is not what dump writes; ``shown`` is its path for the message.
    """
    toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table: dict[str, object] = toml.loads(data.decode())
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        raise GuardError(f'"{shown}" does not parse: {error}', "mend it by hand, or delete it") from error
    found = {check: reason for check, reason in table.items() if isinstance(reason, str)}
    if len(found) != len(table):
        raise GuardError(f'"{shown}" holds more than a reason a check', "mend it by hand, or delete it")
    return found


def dump(reasons: Mapping[str, str]) -> bytes:
    """Print the file in the order of ids: two branches that accept different checks merge."""
    # JSON's strings are TOML's, but for DEL, which no id and no reason has
    rows = (f"{_text(check)} = {_text(reason)}\n" for check, reason in sorted(reasons.items()))
    return (HEADER + "".join(rows)).encode()


def read(baselines: Path, shown: str) -> dict[str, str]:
    """Read the project's reasons; none where there is no file."""
    try:
        return parse((baselines / FILE).read_bytes(), shown)
    except FileNotFoundError:
        return {}


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

"""Where the captures in a pending folder were made: ``origin.json`` beside them, which tells another machine."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guard.baselines.disk import write_whole
from guard.baselines.pending import ORIGIN, digest, folder, meta_path
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from guard.config import Config

SCHEMA = 1
_COMMIT = re.compile(r"[0-9a-f]{40,64}|")
_PLAIN = re.compile(r"[\w .+:-]{0,100}", re.ASCII)


@dataclass(frozen=True)
class Origin:
    """One or more runs of ``guard check`` on one commit in one environment."""

    commit: str
    """Full hash of what was checked out, "" where nobody knew."""
    environment: Mapping[str, str] = field(default_factory=dict)
    captures: Mapping[str, str] = field(default_factory=dict)
    """JSON of a pending file, relative to the folder -> its digest, which binds the graph and the trace cost."""


def leave_origin(config: Config, checks: Iterable[str], commit: str, environment: Mapping[str, str]) -> None:
    """Say which captures this run left, together with those that an earlier run of the same commit did.

    Raises:
        GuardError: The state folder cannot be written.
    """
    top, path = folder(config), folder(config) / ORIGIN
    before = _before(config)
    kept = before.captures if (before.commit, dict(before.environment)) == (commit, dict(environment)) else {}
    names = {meta_path(config, check).relative_to(top).as_posix() for check in checks}
    try:
        there = [name for name in sorted({*kept, *names}) if (top / name).is_file()]
        # one that was captured by a run of another commit, or written over by one, is not this run's
        found = {name: digest((top / name).read_bytes()) for name in there}
        captures = {name: value for name, value in found.items() if name in names or kept[name] == value}
        if captures:
            write_whole(path, dump(Origin(commit, environment, captures)))
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise GuardError(f'"{path}" cannot be written: {error.strerror}') from error


def _before(config: Config) -> Origin:
    try:
        return parse((folder(config) / ORIGIN).read_bytes())
    except (OSError, ValueError):
        return Origin("")


def dump(origin: Origin) -> bytes:
    """Print the file."""
    record = {"schema": SCHEMA, "commit": origin.commit, "environment": dict(origin.environment)}
    return json.dumps({**record, "captures": dict(origin.captures)}, indent=1).encode() + b"\n"


def parse(data: bytes) -> Origin:
    """Read what dump printed.

    Raises:
        ValueError: It is nothing of the kind.
    """
    try:
        record = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise ValueError(f'wanted "schema": {SCHEMA}')
    commit, environment, captures = (record.get(key) for key in ("commit", "environment", "captures"))
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise ValueError('"commit" is no full hash')
    made = Origin(commit, _texts(environment, "environment"), _texts(captures, "captures"))
    if not all(_PLAIN.fullmatch(text) for pair in made.environment.items() for text in pair):
        raise ValueError('"environment" holds something else than versions')
    return made


def _texts(value: Any, key: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError(f'"{key}" is no table of texts')
    return value

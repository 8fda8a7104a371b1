"""What a check saw and nobody accepted yet: ``.guard/pending/``, laid out as the baselines, a JSON beside each file."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from guard.baselines import constants
from guard.baselines.disk import open_state, prune, remove, write_whole
from guard.baselines.meta import parse, record_of
from guard.baselines.names import COST_SUFFIX, SUFFIX, relative_path
from guard.baselines.read_costs import MAX_BYTES as MAX_COST_BYTES
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from guard.baselines.meta import Meta
    from guard.config import Config

META = ".json"
ORIGIN = "origin.json"
"""Beside the captures: where they were made (guard.baselines.origin)."""
MAX_META_BYTES = 4 << 20
MAX_TEXT_BYTES = 1 << 30


@dataclass(frozen=True)
class Pending:
    """One capture that waits."""

    check: str
    meta: Meta
    text: bytes | None
    """The file to be; None unless the action is ``record``."""
    cost: bytes | None = None
    """A cost file with the one section to be; None where none waits."""


@dataclass(frozen=True)
class Broken:
    """A file in the pending folder that is not what a check wrote there."""

    path: Path
    problem: str


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes as hex."""
    return sha256(data).hexdigest()


def digests(root: Path, sources: Iterable[str | Path]) -> dict[str, str]:
    """Return the digest of each source below ``root`` by its relative path, sorted; others are not the project's."""
    found: dict[str, str] = {}
    for source in sources:
        path = Path(os.path.normpath(root / source))
        with suppress(OSError, ValueError):
            found[path.relative_to(root).as_posix()] = digest(path.read_bytes())
    return dict(sorted(found.items()))


def folder(config: Config) -> Path:
    """Return where pending files are."""
    return config.state / "pending"


def pending_path(config: Config, check: str) -> Path:
    """Return the file that ``guard accept`` would take for a check."""
    return folder(config) / relative_path(check)


def pending_cost_path(config: Config, check: str) -> Path:
    """Return the file with the trace cost that ``guard accept`` would take for a check."""
    return _cost_path(pending_path(config, check))


def write_pending(config: Config, check: str, text: str | None, meta: Meta, cost: bytes | None = None) -> str:
    """Keep what a check saw, in place of what it saw before; return the file's path relative to the root.

    Args:
        config: the project.
        check: its id.
        text: the graphs; None where the action is not ``record``.
        meta: what they are bound to.
        cost: a cost file with one section, where a trace cost waits.

    Raises:
        GuardError: The state folder cannot be written.
    """
    path = pending_path(config, check)
    data = None if text is None else text.encode()
    record = record_of(check, _digest(data), _digest(cost), meta)
    try:
        open_state(config.state)
        _put(path, data)
        _put(_cost_path(path), cost)
        # last: a kill between the two leaves a JSON whose digest refuses the text
        write_whole(_meta_path(path), json.dumps(record, indent=1).encode())
    except OSError as error:
        raise GuardError(f'"{path}" cannot be written: {error.strerror}') from error
    shown = _cost_path(path) if meta.action == "cost" else path
    return shown.relative_to(config.root).as_posix()


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        write_whole(path, data)


def _digest(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


def read_pending(config: Config, check: str) -> Pending | Broken | None:
    """Return what waits for a check, None where nothing does."""
    path = pending_path(config, check)
    return _read(config, _meta_path(path)) if _meta_path(path).exists() else None


def all_pending(config: Config) -> tuple[Pending | Broken, ...]:
    """Return everything that waits, in the order of paths."""
    metas = folder(config).rglob(f"*{SUFFIX}{META}")
    return tuple(_read(config, path) for path in sorted(metas))


def drop_pending(config: Config, check: str) -> bool:
    """Forget what waits for a check; return whether anything did.

    Raises:
        OSError: It cannot be deleted.
    """
    path = pending_path(config, check)
    return drop_file(config, _meta_path(path))


def drop_file(config: Config, meta: Path) -> bool:
    """Forget a pending file by the path of its JSON; return whether it was there."""
    there = meta.exists()
    text = meta.with_name(meta.name.removesuffix(META))
    remove(meta, folder(config))
    remove(text, folder(config))
    remove(_cost_path(text), folder(config))
    prune(meta.parent, folder(config))
    if all(path.name == ORIGIN for path in folder(config).glob("*")):
        remove(folder(config) / ORIGIN, folder(config))
        constants.forget(config)
    return there


def meta_path(config: Config, check: str) -> Path:
    """Return the JSON that binds what waits for a check."""
    return _meta_path(pending_path(config, check))


def _meta_path(path: Path) -> Path:
    return path.with_name(path.name + META)


def _cost_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(SUFFIX) + COST_SUFFIX)


def _read(config: Config, meta: Path) -> Pending | Broken:
    return read_from(config, meta, _bounded)


def read_from(config: Config, meta: Path, read: Callable[[Path, int], bytes]) -> Pending | Broken:
    """Read one capture, trusting nothing: the folder is open to everything that runs in the project.

    Args:
        config: the project.
        meta: where its JSON is, or would be.
        read: gives a file's bytes, up to one more than so many; raises OSError.
    """
    try:
        data = read(meta, MAX_META_BYTES)
        if len(data) > MAX_META_BYTES:
            return Broken(meta, "its JSON is too large")
        check, wanted, wanted_cost, parsed = parse(json.loads(data))
        path = pending_path(config, check)
        if _meta_path(path) != meta:
            return Broken(meta, "it names a check whose file is another")
        text = read(path, MAX_TEXT_BYTES) if parsed.action == "record" else None
        cost = None if parsed.cost is None else read(_cost_path(path), MAX_COST_BYTES)
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        return Broken(meta, f"it does not read ({type(error).__name__}: {error})")
    if _digest(text) != wanted:
        return Broken(meta, "its text is not the one that was captured")
    if _digest(cost) != wanted_cost:
        return Broken(meta, "its trace cost is not the one that was counted")
    return Pending(check, parsed, text, cost)


def _bounded(path: Path, most: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read(most + 1)

"""What a check saw and nobody accepted yet: ``.guard/pending/``, laid out as the baselines, a JSON beside each file."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from guard.baselines import constants
from guard.baselines.disk import open_state, prune, remove, write_whole
from guard.baselines.names import SUFFIX, relative_path
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from guard.config import Config

META = ".json"
MAX_META_BYTES = 4 << 20
_PLAIN = re.compile(r"[\w.+:-]+", re.ASCII)


@dataclass(frozen=True)
class Meta:
    """What a pending file is bound to."""

    torch: str
    """Full version that captured it."""
    baseline: str | None
    """Digest of the baseline that it was compared with; None where there was none."""
    action: Literal["record", "remove"] = "record"
    fixes: Literal["on", "off"] = "on"
    device: str = "cpu"
    sources: Mapping[str, str] | tuple[()] = ()
    """Relative path -> digest of the files whose code the capture ran."""


@dataclass(frozen=True)
class Pending:
    """One capture that waits."""

    check: str
    meta: Meta
    text: bytes | None
    """The file to be; None for the action ``remove``."""


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


def write_pending(config: Config, check: str, text: str | None, meta: Meta) -> str:
    """Keep what a check saw, in place of what it saw before; return the file's path relative to the root.

    Raises:
        GuardError: The state folder cannot be written.
    """
    path = pending_path(config, check)
    data = None if text is None else text.encode()
    record = {"check": check, "text": None if data is None else digest(data), **asdict(meta)}
    record["sources"] = dict(meta.sources)
    try:
        open_state(config.state)
        if data is None:
            path.unlink(missing_ok=True)
        else:
            write_whole(path, data)
        # last: a kill between the two leaves a JSON whose digest refuses the text
        write_whole(_meta_path(path), json.dumps(record, indent=1).encode())
    except OSError as error:
        raise GuardError(f'"{path}" cannot be written: {error.strerror}') from error
    return path.relative_to(config.root).as_posix()


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
    prune(meta.parent, folder(config))
    if not any(folder(config).glob("*")):
        constants.forget(config)
    return there


def _meta_path(path: Path) -> Path:
    return path.with_name(path.name + META)


def _read(config: Config, meta: Path) -> Pending | Broken:
    """Read one pair, trusting nothing: the folder is open to everything that runs in the project."""
    try:
        if meta.stat().st_size > MAX_META_BYTES:
            return Broken(meta, "its JSON is too large")
        record = json.loads(meta.read_bytes())
        check, wanted, parsed = _fields(record)
        path = pending_path(config, check)
        if _meta_path(path) != meta:
            return Broken(meta, "it names a check whose file is another")
        text = None if parsed.action == "remove" else path.read_bytes()
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        return Broken(meta, f"it does not read ({type(error).__name__}: {error})")
    if (None if text is None else digest(text)) != wanted:
        return Broken(meta, "its text is not the one that was captured")
    return Pending(check, parsed, text)


def _fields(record: Any) -> tuple[str, str | None, Meta]:
    """Check the types of a record.

    Raises:
        KeyError, TypeError, ValueError: It is not what write_pending writes.
    """
    record = dict(record)
    check, text, sources = record.pop("check"), record.pop("text"), record.pop("sources")
    meta = Meta(**record, sources=dict(sources))
    texts = (check, meta.torch, meta.device, *dict(meta.sources), *dict(meta.sources).values())
    if not all(isinstance(value, str) for value in texts):
        raise TypeError("wanted text")
    if not all(value is None or isinstance(value, str) for value in (text, meta.baseline)):
        raise TypeError("wanted text or null")
    # they go into a TOML file
    if not _PLAIN.fullmatch(meta.torch) or not _PLAIN.fullmatch(meta.device):
        raise ValueError("a version or device that is none")
    if meta.action not in ("record", "remove") or meta.fixes not in ("on", "off"):
        raise ValueError("unknown action or fixes")
    if (meta.action == "remove") != (text is None):
        raise ValueError("action and text do not agree")
    return cast("str", check), cast("str | None", text), meta

"""What was found right before: digests in ``.guard/cache/``. A text is judged once for each version of its judges."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guard import __version__
from guard.baselines.disk import open_state, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from guard.baselines.audit.fault import Fault

FILE = "cache/verified.json"
_PACKAGE = Path(__file__).parents[2]
_JUDGES = ("ir", "baselines", "baselines/audit", "")


class Cache:
    """Digests of right texts, and what was read of check modules. Entries that a run did not ask for are forgotten."""

    def __init__(self, state: Path, *, trusted: bool) -> None:
        """Read the cache; an untrusted one counts as empty and is not written."""
        self._state, self._trusted = state, trusted
        self._key = _key() if trusted else ""
        left = _read(state / FILE, self._key) if trusted else {}
        self._before: frozenset[str] = frozenset(left.get("right", ()))
        self._modules_before: dict[str, Any] = dict(left.get("modules", {}))
        self._now: set[str] = set()
        self._modules: dict[str, Any] = {}

    def faults(self, name: str, data: bytes, judge: Callable[[], tuple[Fault, ...]]) -> tuple[Fault, ...]:
        """Return what is wrong with a file: nothing where that was found before, else what ``judge`` finds."""
        digest = _digest(name, data)
        found = () if digest in self._before else judge()
        if not found:
            self._now.add(digest)
        return found

    def module(self, data: bytes, read: Callable[[], Any]) -> Any:
        """Return what ``read`` returned for this source, which JSON carries."""
        digest = _digest("", data)
        found = self._modules_before[digest] if digest in self._modules_before else read()
        self._modules[digest] = found
        return found

    def write(self) -> None:
        """Keep what this run asked for, if it is not what is kept already."""
        if not self._trusted or (self._now == self._before and self._modules.keys() == self._modules_before.keys()):
            return
        record = {"key": self._key, "right": sorted(self._now), "modules": self._modules}
        # a read-only tree is verified all the same
        with suppress(OSError):
            write_whole(open_state(self._state) / FILE, json.dumps(record).encode())


def _digest(name: str, data: bytes) -> str:
    return sha256(b"%s\0%s" % (name.encode(errors="surrogateescape"), data)).hexdigest()


def _key() -> str:
    """Name the judges: guard's version, and in a checkout the sources that are edited under one version."""
    files = (path for part in _JUDGES for path in sorted((_PACKAGE / part).glob("*.py")))
    return _digest(f"{__version__} {sys.version_info[:2]}", repr(tuple(_stamp(files))).encode())


def _stamp(files: Iterable[Path]) -> Iterable[tuple[str, int, int]]:
    for path in files:
        stat = path.stat()
        yield path.name, stat.st_size, stat.st_mtime_ns


def _read(path: Path, key: str) -> dict[str, Any]:
    """Read what was kept under this key; anything else is nothing."""
    try:
        record = json.loads(path.read_bytes())
        right, modules = record["right"], record["modules"]
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    plain = isinstance(right, list) and isinstance(modules, dict) and record["key"] == key
    return {"right": right, "modules": modules} if plain and all(isinstance(one, str) for one in right) else {}

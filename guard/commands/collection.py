"""What the workers of a run collected, and what it means for what was asked for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.names import quoted, tests_of
from guard.baselines.selectors import short, suggestion
from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from guard.config import Config
    from guard.findings import Outcome

MODULES = ("test_{}.py", "{}_test.py", "{}.py")


class Collection(NamedTuple):
    """Short ids; all workers of a run collect the same."""

    known: tuple[str, ...] = ()
    """Every test below the checks' root, or of the modules that were named."""
    unknown: tuple[str, ...] = ()
    """Selectors that name none."""
    selected: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    """Of a shard: what all shards run between them."""
    sources: tuple[tuple[str, str], ...] = ()
    """``path:line`` of each that was selected."""
    unchanged: tuple[str, ...] = ()
    """Selected, too, but nothing that they depend on has moved: they do not run."""


def read_collection(folder: Path) -> Collection:
    """Read what the first worker left that collected; nothing where none did."""
    left = (_read(path) for path in sorted(folder.glob("*.collected")))
    return next((collection for collection in left if collection is not None), Collection())


def _read(path: Path) -> Collection | None:
    try:
        left = json.loads(path.read_text(encoding="ascii"))
    except ValueError:  # its worker died while it wrote
        return None
    lists = {key: tuple(left.get(key, ())) for key in ("known", "unknown", "selected", "planned", "unchanged")}
    return Collection(**lists, sources=tuple(left.get("sources", {}).items()))


def modules(config: Config, selectors: Sequence[str]) -> list[Path]:
    """Return the modules that hold everything that the selectors may name; the checks' root where that is not sure."""
    found = [next(_candidates(config, selector), None) for selector in selectors]
    certain = [path for path in found if path is not None]
    return list(dict.fromkeys(certain)) if certain and len(certain) == len(found) else [config.checks]


def _candidates(config: Config, selector: str) -> Iterator[Path]:
    head, separator, _ = short(selector, config.checks_prefix).partition("::")
    if not separator or re.search(r"[*?]", head):
        return
    folder, _, module = head.rpartition("/")
    paths = (config.checks / folder / pattern.format(module) for pattern in MODULES)
    yield from (path for path in paths if path.is_file())


def refuse_unspeakable(config: Config) -> None:
    """Refuse paths that pytest-xdist cannot send from a worker: it speaks UTF-8.

    Raises:
        UsageError: The root, or a module's name, is no UTF-8 as this process reads it.
    """
    if not _speakable(str(config.root)):
        raise UsageError(f'"{config.root}" is no UTF-8 in this locale', "set PYTHONUTF8=1")
    for path in config.checks.rglob("*.py"):
        if not _speakable(str(path)):
            shown = path.relative_to(config.root).as_posix()
            raise UsageError(f'"{shown}" is no UTF-8', "rename it, or set PYTHONUTF8=1 if it is the locale's fault")


def _speakable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def located(outcomes: Iterable[Outcome], collection: Collection) -> tuple[Outcome, ...]:
    """Give each check's outcome the line of its test."""
    sources = dict(collection.sources)
    return tuple(
        outcome
        if outcome.unchanged
        else replace(outcome, source=next((sources[test] for test in tests_of(outcome.check) if test in sources), ""))
        for outcome in outcomes
    )


def refuse_unknown(collection: Collection, selectors: Sequence[str], config: Config) -> tuple[str, ...]:
    """Return notes for words that name no check, where nothing else was asked for.

    Raises:
        UsageError: A node id, short id or file names no check; or a word does while others name one.
    """
    prefix = config.checks_prefix
    for selector in collection.unknown:
        if "::" in selector or selector.endswith((".py", ".graph")) or len(collection.unknown) < len(selectors):
            raise UsageError(f"unknown check {quoted(selector)}", suggestion(selector, collection.known, prefix))
    return tuple(
        f"no check is named {quoted(selector)}: {suggestion(selector, collection.known, prefix)}"
        for selector in collection.unknown
    )

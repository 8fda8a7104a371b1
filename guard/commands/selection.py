"""Selectors as typed in any folder, spelled from the project's root; and the checks of pending files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from guard.baselines.names import check_of
from guard.baselines.pending import META, Pending, all_pending, folder
from guard.baselines.selectors import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from guard.config import Config


def from_root(selectors: Sequence[str], config: Config) -> tuple[str, ...]:
    """Spell the paths among selectors relative to the root, where they are files or folders seen from here."""
    return tuple(_from_root(selector, config.root, Path.cwd()) for selector in selectors)


def _from_root(selector: str, root: Path, here: Path) -> str:
    path, separator, rest = selector.partition("::")
    absolute = Path(here, path).resolve()
    if not path or (here == root and not Path(path).is_absolute()) or not absolute.is_relative_to(root):
        return selector
    return f"{absolute.relative_to(root).as_posix()}{separator}{rest}" if absolute.exists() else selector


def select(selectors: Sequence[str], known: Iterable[str], config: Config, problem: str) -> tuple[str, ...]:
    """Return the known ids that selectors name; UsageError, which begins with ``problem``, where one names none."""
    baselines = config.baselines.relative_to(config.root).as_posix()
    return resolve(from_root(selectors, config), known, config.checks_prefix, baselines, problem=problem)


def waiting(config: Config) -> tuple[str, ...]:
    """Return the checks that a pending file waits for, whether it reads or not."""
    checks = (
        found.check if isinstance(found, Pending) else _named(config, found.path) for found in all_pending(config)
    )
    return tuple(sorted({check for check in checks if check is not None}))


def _named(config: Config, meta: Path) -> str | None:
    return check_of(meta.relative_to(folder(config)).as_posix().removesuffix(META))

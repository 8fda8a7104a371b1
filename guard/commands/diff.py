"""``guard diff``: what moved between two graphs, by class. Needs no torch, and of two files no project."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guard import verdict
from guard.baselines.names import quoted
from guard.baselines.pending import Broken, pending_path, read_pending
from guard.baselines.store import Store
from guard.commands.comparison import compare_with_cost
from guard.commands.selection import select, waiting
from guard.commands.since import since
from guard.config import load
from guard.errors import GuardError, UsageError
from guard.ir.parser import parse_bytes
from guard.report import color, differences

if TYPE_CHECKING:
    from guard.commands.options import DiffOptions
    from guard.config import Config
    from guard.ir.graph import Program

USAGE = 'guard diff A B, guard diff "some::check", or guard diff --since main'


class Side(NamedTuple):
    """One of two graphs."""

    shown: str
    program: Program


def diff(options: DiffOptions) -> int:
    """Print what moved; 0 where nothing did, 1 where something did. With ``--since`` 0: that is a list, no verdict."""
    if options.since is not None:
        return since(options)
    if options.format == "markdown":
        raise UsageError("--format markdown is for --since", USAGE)
    baseline, current = _sides(options.ids)
    found, cost = compare_with_cost(baseline.program, current.program)
    if options.format == "json":
        print(differences.as_json(baseline.shown, current.shown, found, cost), end="")
    else:
        print(differences.as_text(found, cost, color=color.wanted(sys.stdout, os.environ)), end="")
    return verdict.FINDINGS if found else verdict.HOLD


def _sides(given: tuple[str, ...]) -> tuple[Side, Side]:
    if len(given) == 1 and not _lone_file(given[0]):
        return _waiting(load(), given[0])
    if len(given) != 2:  # noqa: PLR2004 - a pair
        raise UsageError(f"wanted two graphs, or one check that has something pending, got {len(given)}", USAGE)
    return _side(given[0]), _side(given[1])


def _lone_file(given: str) -> bool:
    """Tell a file outside of any project's baselines, whose path names no check."""
    if not os.path.isfile(given):  # noqa: PTH113 - Path.is_file raises on names that no file system takes
        return False
    try:
        return not Path(given).resolve().is_relative_to(load().root)
    except UsageError:
        return True


def _side(given: str) -> Side:
    """Read a file, or a check's baseline."""
    path = Path(given)
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return _baseline(given)
    except IsADirectoryError:
        raise UsageError(f"{quoted(given)} is a folder, wanted a graph file or a check", USAGE) from None
    except OSError as error:
        if os.path.lexists(path):
            raise GuardError(f"{quoted(given)} cannot be read: {error.strerror}") from error
        return _baseline(given)  # no name of a file: too long, or with a character that the system does not take
    return Side(given, parse_bytes(data, given))


def _baseline(given: str) -> Side:
    if given.endswith(".graph"):
        raise GuardError(f"no such file: {quoted(given)}")
    try:
        config = load()
    except UsageError as error:
        raise UsageError(
            f"{quoted(given)} is no file, and there is no project that it could be a check of", USAGE
        ) from error
    check = _one(config, given, Store(config).ids())
    return _recorded(config, check)


def _recorded(config: Config, check: str) -> Side:
    store = Store(config)
    shown, data = store.shown(store.path(check)), store.read(check)
    if data is None:
        raise GuardError(f"{quoted(check)} has no baseline", f"guard show {quoted(check)} --pending")
    return Side(shown, parse_bytes(data, shown))


def _waiting(config: Config, given: str) -> tuple[Side, Side]:
    """Return a check's baseline and what waits to replace it."""
    there = waiting(config)
    check = _one(config, given, {*there, *Store(config).ids()})
    found = read_pending(config, check)
    if isinstance(found, Broken):
        raise GuardError(f"the pending file of {quoted(check)} is not right: {found.problem}", "guard check")
    if found is None or found.text is None:
        alone = found is not None and found.meta.action == "cost"
        why = "what waits is its trace cost alone" if alone else "what waits is its removal"
        why = "nothing is pending for it" if found is None else why
        raise GuardError(f"{quoted(check)}: {why}", USAGE)
    shown = Store(config).shown(pending_path(config, check))
    return _recorded(config, check), Side(shown, parse_bytes(found.text, shown))


def _one(config: Config, given: str, known: set[str] | tuple[str, ...]) -> str:
    found = select((given,), known, config, "no file and no check")
    if len(found) > 1:
        raise UsageError(f"{quoted(given)} names {len(found)} checks, wanted one", f"guard diff {quoted(found[0])}")
    return found[0]

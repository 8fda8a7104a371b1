"""What a user typed to name checks: short ids, node ids, paths, prefixes, globs. Pure; the known ids come in."""

from __future__ import annotations

import re
from difflib import get_close_matches
from fnmatch import translate
from typing import TYPE_CHECKING

from guard.baselines.names import SUFFIX, check_of, quoted, short_id
from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NEAR = 3


def resolve(
    selectors: Sequence[str],
    known: Iterable[str],
    checks: str,
    baselines: str = "baselines",
    *,
    problem: str = "unknown check",
) -> tuple[str, ...]:
    """Return the known short ids that the selectors name, sorted, each once.

    Args:
        selectors: As typed.
        known: Short ids to choose from.
        checks: ``Config.checks_prefix``.
        baselines: The baselines' root as paths spell it: a baseline's file names its check.
        problem: What the message says before the selector.

    Raises:
        UsageError: A selector names none of them; near ones are in the message.
    """
    known = tuple(known)
    found: set[str] = set()
    for selector in selectors:
        matched = matches(selector, known, checks, baselines)
        if not matched:
            raise UsageError(f"{problem} {quoted(selector)}", suggestion(selector, known, checks))
        found.update(matched)
    return tuple(sorted(found))


def matches(selector: str, known: Iterable[str], checks: str, baselines: str = "baselines") -> tuple[str, ...]:
    """Return the known ids that one selector names.

    An id itself wins; else everything below it: a folder, a module, a class, a function with all its parameters and
    names; else ``*`` and ``?`` are wildcards. Brackets never are: ids are full of them.
    """
    known = tuple(known)
    if selector in known:
        return (selector,)
    wanted = short(selector, checks, baselines)
    if wanted in known:
        return (wanted,)
    if wanted == "":
        return known
    below = tuple(check for check in known if check.startswith(wanted) and check[len(wanted)] in _after(wanted))
    if below or not re.search(r"[*?]", wanted):
        return below
    # a glob that stops before the parameters takes them all, as a function's own id does
    glob = re.compile(translate(wanted.replace("[", "[[]")))
    return tuple(check for check in known if glob.match(check) or glob.match(check.partition("[")[0]))


def _after(wanted: str) -> str:
    """Return what may follow a selector in an id below it."""
    return "[#." if "::" in wanted else "/:"


def short(selector: str, checks: str, baselines: str = "baselines") -> str:
    """Spell a selector as a short id, or as the head of short ids."""
    path = selector.replace("\\", "/").removeprefix("./").rstrip("/")
    if path == checks:
        return ""
    if path.startswith(f"{baselines}/") and path.endswith(SUFFIX):
        return check_of(path[len(baselines) + 1 :]) or selector
    if "::" not in selector and not path.endswith(".py"):
        return path.removeprefix(f"{checks}/")
    return short_id(selector.removeprefix("./"), checks)


def near(selector: str, known: Iterable[str], checks: str) -> tuple[str, ...]:
    """Return up to three known ids that resemble a selector, nearest first."""
    wanted = short(selector, checks)
    known = tuple(known)
    close = get_close_matches(wanted, known, n=NEAR, cutoff=0.6)
    if close:
        return tuple(close)
    return tuple(check for check in known if wanted and wanted.lower() in check.lower())[:NEAR]


def suggestion(selector: str, known: Iterable[str], checks: str) -> str:
    """Return the tip for a selector that names nothing."""
    close = near(selector, known, checks)
    if close:
        return f"did you mean {' or '.join(quoted(check) for check in close)}?"
    return "guard list prints the ids that have a baseline"

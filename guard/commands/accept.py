"""``guard accept``: what waits becomes the baseline."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines.accept import Accepted, reason_of, refuse_in_ci
from guard.baselines.accept import accept as take
from guard.baselines.delivered import delivered, take_in
from guard.baselines.names import quoted
from guard.commands.provenance import checked_out
from guard.commands.selection import select, waiting
from guard.config import load
from guard.errors import UsageError
from guard.session.alarms import of_pending

if TYPE_CHECKING:
    from pathlib import Path

    from guard.commands.options import AcceptOptions
    from guard.config import Config

GIT_PATHS = 8


def accept(options: AcceptOptions) -> int:
    """Accept what was named and print the ``git add`` that goes with it; 0, or 2 where one was refused."""
    import os

    config = load()
    refuse_in_ci(os.environ, in_ci=options.in_ci)
    if options.origin is not None:
        return _accept_from(config, options, options.origin)
    there = waiting(config)
    if not options.ids and not options.everything:
        raise UsageError("accept what?", pending_list(there))
    checks = there if options.everything else select(options.ids, there, config, "nothing is pending for")
    if not checks:
        print("nothing is pending")
        return verdict.HOLD
    signs = [line for check in checks for line in of_pending(config, check)]
    done = take(config, checks, in_ci=options.in_ci, reason=options.reason)
    report(config, done)
    for line in signs:
        print(f"note: {line}", file=sys.stderr)
    return verdict.USAGE if done.refused else verdict.HOLD


def _accept_from(config: Config, options: AcceptOptions, path: Path) -> int:
    """Accept what another machine's check saw: all that was delivered, or what was named of it."""
    reason_of(config, options.reason)  # before anything is taken in
    found = delivered(config, path, checked_out(config.root))
    for origin in found.origins:
        where = ", ".join(f"{key} {value}" for key, value in origin.environment.items())
        print(f"captured at {origin.commit[:10] or 'no commit'}: {where}")
    checks = tuple(found.captures)
    if options.ids:
        checks = select(options.ids, checks, config, "not delivered, or refused:") if checks else ()
    for check in checks:
        take_in(config, found.captures[check])
    done = Accepted(refused=found.refused) + take(config, checks, in_ci=options.in_ci, reason=options.reason)
    report(config, done)
    if not checks and not done.refused:
        print("nothing was delivered")
    return verdict.USAGE if done.refused else verdict.HOLD


def pending_list(there: tuple[str, ...]) -> str:
    """Return the tip that lists what waits."""
    if not there:
        return "nothing is pending: guard check"
    return "pending, or --all of them:\n" + "\n".join(f"    {quoted(check)}" for check in there)


def report(config: Config, done: Accepted) -> None:
    """Print what an accept did, and the next command: refusals and warnings on stderr, the rest on stdout."""
    tell(done)
    stage(config, done)


def tell(done: Accepted) -> None:
    """Print what an accept did."""
    for check in done.settled:
        print(f"accepted: {quoted(check)}")
    for path in done.removed:
        print(f"removed: {path}")
    for text in done.warnings:
        print(f"warning: {text}", file=sys.stderr)
    for text in done.refused:
        print(f"refused: {text}", file=sys.stderr)


def stage(config: Config, done: Accepted) -> None:
    """Print the command that stages what accepts wrote, if they did."""
    paths = tuple(sorted({*done.written, *done.removed}))
    if paths:
        print(git_add(paths, config.baselines.relative_to(config.root).as_posix()))


def git_add(paths: tuple[str, ...], baselines: str) -> str:
    """Return the command that stages what changed, deletions too; the whole folder where it is much."""
    few = paths if len(paths) <= GIT_PATHS else (baselines,)
    return f"git add -- {' '.join(shlex.quote(path) for path in few)}"

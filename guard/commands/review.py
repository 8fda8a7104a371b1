"""``guard review``: step through what waits on a terminal, or list it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines.accept import refuse_in_ci
from guard.commands import keys
from guard.commands.accept import accept, stage
from guard.commands.inbox import entries
from guard.commands.options import AcceptOptions, RejectOptions
from guard.commands.reject import reject
from guard.commands.reviewer import Reviewer
from guard.commands.selection import select, waiting
from guard.config import load
from guard.errors import UsageError
from guard.report import color, pending

if TYPE_CHECKING:
    from guard.commands.options import ReviewOptions
    from guard.config import Config

INSTEAD = "guard review --list, then guard accept ID or guard reject ID"


def review(options: ReviewOptions) -> int:
    """Ask about each; 0, 2 where an accept was refused, 130 where Ctrl-C ended it: what was chosen before is done."""
    if len(options.ids) > 1 and options.ids[0] in ("accept", "reject"):
        return _answered(options)
    config = load()
    there = waiting(config)
    checks = select(options.ids, there, config, "nothing is pending for") if options.ids else there
    if not options.list:
        return _interactive(config, checks, options)
    found = pending.causes(entries(config, checks))
    if options.format == "json":
        print(pending.as_json(found), end="")
    else:
        print(pending.as_text(found, color=color.wanted(sys.stdout, os.environ)), end="")
    return verdict.HOLD


def _answered(options: ReviewOptions) -> int:
    """Do what ``guard accept`` and ``guard reject`` do."""
    verb, *ids = options.ids
    if verb == "accept":
        return accept(AcceptOptions(tuple(ids), in_ci=options.in_ci, reason=options.reason))
    return reject(RejectOptions(tuple(ids)))


def _interactive(config: Config, checks: tuple[str, ...], options: ReviewOptions) -> int:
    if options.format == "json":
        raise UsageError("--format json is for --list", INSTEAD)
    if not checks:
        print("nothing is pending: guard check")
        return verdict.HOLD
    if not keys.is_terminal():
        raise UsageError("a review asks questions, and this is no terminal", INSTEAD)
    refuse_in_ci(os.environ, in_ci=options.in_ci)
    session = Reviewer(config, color.wanted(sys.stdout, os.environ), options.in_ci, options.reason)
    interrupted = False
    try:
        session.review(pending.causes(entries(config, checks)))
    except KeyboardInterrupt:
        interrupted = True
    accepted, rejected = len(session.accepted.settled), len(session.rejected)
    print(f"\n{accepted} accepted, {rejected} rejected, {session.left} left as they were")
    stage(config, session.accepted)
    if interrupted:
        return verdict.INTERRUPTED
    return verdict.USAGE if session.accepted.refused else verdict.HOLD

"""``guard reject``: what waits is forgotten; the baseline stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines.names import quoted
from guard.baselines.pending import Broken, all_pending, drop_file, drop_pending
from guard.commands.accept import pending_list
from guard.commands.selection import select, waiting
from guard.config import load
from guard.errors import GuardError, UsageError

if TYPE_CHECKING:
    from guard.commands.options import RejectOptions
    from guard.config import Config


def reject(options: RejectOptions) -> int:
    """Forget what was named."""
    config = load()
    there = waiting(config)
    if not options.ids and not options.everything:
        raise UsageError("reject what?", pending_list(there))
    checks = there if options.everything else select(options.ids, there, config, "nothing is pending for")
    forget(config, checks, everything=options.everything)
    for check in checks:
        print(f"rejected: {quoted(check)}")
    if not checks:
        print("nothing is pending")
    return verdict.HOLD


def forget(config: Config, checks: tuple[str, ...], *, everything: bool = False) -> None:
    """Delete what waits for some checks; with ``everything`` also files that name none.

    Raises:
        GuardError: One cannot be deleted.
    """
    try:
        _drop(config, checks, everything=everything)
    except OSError as error:
        raise GuardError(f'"{error.filename}" cannot be deleted: {error.strerror}') from error


def _drop(config: Config, checks: tuple[str, ...], *, everything: bool) -> None:
    for check in checks:
        drop_pending(config, check)
    if everything:  # also files that do not even name a check
        for found in all_pending(config):
            if isinstance(found, Broken):
                drop_file(config, found.path)

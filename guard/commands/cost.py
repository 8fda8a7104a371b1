"""``guard cost``: the accepted trace costs, as they are or how they crept from commit to commit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines import costs
from guard.baselines.cost_history import cost_history
from guard.baselines.names import COST_SUFFIX, SUFFIX, check_of
from guard.baselines.store import Store
from guard.commands.selection import select
from guard.config import load
from guard.report import costs as page
from guard.report.cost import traces_record

if TYPE_CHECKING:
    from pathlib import Path

    from guard.baselines.section import Section
    from guard.commands.options import CostOptions
    from guard.config import Config

NOTHING = "no trace cost is accepted yet: guard update"


def cost(options: CostOptions) -> int:
    """Print them; 0 whatever they say: ``guard check`` judges."""
    config = load()
    checks = _checks(config, options)
    if options.history:
        found = cost_history(config, checks)
        text = page.history_json(found) if options.format == "json" else page.history_text(found)
        empty = not found.crept
    else:
        now = _accepted(config, checks)
        records = {check: traces_record(sections) for check, sections in now.items()}
        text = page.table_json(now, records) if options.format == "json" else page.table(now)
        empty = not now
    if empty and options.format == "text":
        print(NOTHING, file=sys.stderr)
        return verdict.HOLD
    print(text, end="")
    return verdict.HOLD


def _checks(config: Config, options: CostOptions) -> tuple[str, ...]:
    """Return the checks to speak of: those that have a baseline or a trace cost."""
    store = Store(config)
    named = (costs.cost_of(path) or _named(config, path) for path in store.costs())
    known = {entry.check for entry in store.entries()} | set(named)
    ids = tuple(sorted(check for check in known if check is not None))
    return select(options.ids, ids, config, "unknown check") if options.ids else ids


def _named(config: Config, path: Path) -> str | None:
    """Return the check whose file has this name, for one that does not read: it must not be passed over."""
    return check_of(path.relative_to(config.baselines).as_posix().removesuffix(COST_SUFFIX) + SUFFIX)


def _accepted(config: Config, checks: tuple[str, ...]) -> dict[str, dict[str, Section]]:
    store = Store(config)
    read = ((check, store.read_cost(check)) for check in checks)
    return {
        check: costs.parse(data, check, store.shown(store.cost_path(check))) for check, data in read if data is not None
    }

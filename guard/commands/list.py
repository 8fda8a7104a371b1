"""``guard list``: the checks that have a baseline or a pending capture, without running any."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines.names import COST_SUFFIX, SUFFIX, quoted
from guard.baselines.pending import Broken, read_pending
from guard.baselines.store import Store
from guard.commands.selection import select, waiting
from guard.config import load
from guard.report.json import dump

if TYPE_CHECKING:
    from pathlib import Path

    from guard.commands.options import ListOptions
    from guard.config import Config


@dataclass(frozen=True)
class Row:
    """One check. Its fields are the keys of the JSON."""

    check: str
    baseline: str | None
    """Path relative to the root."""
    pending: str | None
    """``record``, ``remove``, ``cost`` (the trace cost alone) or ``broken``."""
    problem: str | None = None
    trace_cost: str | None = None
    """Path of the accepted trace cost, relative to the root."""


def list_checks(options: ListOptions) -> int:
    """Print a line a check; 0, or 2 where a file of the store is in the wrong place."""
    config = load()
    rows = _rows(config)
    if options.ids:
        chosen = set(select(options.ids, {row.check for row in rows}, config, "unknown check"))
        rows = tuple(row for row in rows if row.check in chosen)
    if options.format == "json":
        print(dump({"checks": [asdict(row) for row in rows]}), end="")
    elif rows:
        print(_table(rows), end="")
    else:
        print("no baselines yet: guard check, then guard accept --all", file=sys.stderr)
    return verdict.USAGE if any(row.problem for row in rows) else verdict.HOLD


def _rows(config: Config) -> tuple[Row, ...]:
    store = Store(config)
    unplaced = set(waiting(config))
    rows = []
    for entry in store.entries():
        check = entry.check or store.shown(entry.path)
        cost = _cost(store, entry.path)
        rows.append(Row(check, store.shown(entry.path), _pending(config, check), entry.problem, cost))
        unplaced.discard(check)
    rows += [Row(check, None, _pending(config, check)) for check in unplaced]
    return tuple(sorted(rows, key=lambda row: (row.check, row.baseline or "")))


def _cost(store: Store, baseline: Path) -> str | None:
    """Return what lies beside a baseline."""
    path = baseline.with_name(baseline.name.removesuffix(SUFFIX) + COST_SUFFIX)
    return store.shown(path) if path.is_file() else None


def _pending(config: Config, check: str) -> str | None:
    found = read_pending(config, check)
    if found is None:
        return None
    return "broken" if isinstance(found, Broken) else found.meta.action


def _table(rows: tuple[Row, ...]) -> str:
    width = max(len(quoted(row.check)) for row in rows)
    return "".join(f"{quoted(row.check):<{width}}  {_state(row)}\n" for row in rows)


def _state(row: Row) -> str:
    if row.problem is not None:
        return f"problem: {row.problem}"
    pending = {"cost": "trace cost"}.get(row.pending or "", row.pending)
    states = (
        "baseline" if row.baseline else "",
        "trace cost" if row.trace_cost else "",
        f"pending: {pending}" if pending else "",
    )
    return ", ".join(state for state in states if state)

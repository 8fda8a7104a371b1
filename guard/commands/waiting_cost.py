"""A trace cost that waits for ``guard accept``, beside the accepted one. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.baselines import costs
from guard.baselines.costs import CostSyntaxError
from guard.baselines.store import Store
from guard.cost.trace_compare import judge
from guard.findings import Finding
from guard.policy import TRACE_COST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.baselines.pending import Pending
    from guard.baselines.section import Section
    from guard.config import Config


def cost_finding(config: Config, found: Pending) -> Finding | None:
    """Return what an accept of the trace cost changes; None where nothing waits, or it is the accepted one by now."""
    if found.cost is None or found.meta.cost is None:
        return None
    check, key = found.check, found.meta.cost
    try:
        now = costs.parse(found.cost, check, "its pending trace cost")[key]
    except (CostSyntaxError, KeyError):
        return Finding("unreadable", check, "its pending trace cost is not right")
    was, lines = _accepted(config, check, key)
    if was == now:
        return None
    if was is None:
        return Finding(TRACE_COST, check, f"{now.calls:,} calls: the first under {key}", lines)
    judged = judge(was, now)
    return Finding(TRACE_COST, check, judged.title or "more of its trace is counted than before", judged.lines)


def cost_warning(config: Config, found: Pending) -> Iterator[str]:
    """Yield a sentence where the accepted trace cost has moved since the check ran."""
    if found.meta.cost is None:
        return
    data = Store(config).read_cost(found.check)
    if costs.bound(data, found.check, found.meta.cost) != found.meta.cost_baseline:
        yield "the accepted trace cost has changed since the check ran: an accept will be refused"


def _accepted(config: Config, check: str, key: str) -> tuple[Section | None, tuple[str, ...]]:
    store = Store(config)
    data = store.read_cost(check)
    try:
        found = costs.parse(data, check, store.shown(store.cost_path(check))) if data is not None else {}
    except CostSyntaxError as error:
        return None, (f"the accepted one does not parse: {error.problem}",)
    return found.get(key), ()

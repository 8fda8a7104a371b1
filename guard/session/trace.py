"""A check's trace cost beside the accepted one: whether it is counted, what it means, what waits to be accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines import costs
from guard.baselines.costs import CostSyntaxError
from guard.baselines.names import quoted
from guard.baselines.store import Store
from guard.cost.trace_compare import Judged, compare
from guard.findings import Counted, Finding
from guard.policy import TRACE_COST

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from guard.baselines.section import Section
    from guard.cost.calls import TraceCost
    from guard.session.asked import Asked
    from guard.session.setting import Setting

    Take: TypeAlias = Callable[[Asked, tuple[int, ...]], TraceCost | str]
    """Counts as is asked for; beside it, counts of which one more is enough."""

# Up to 4 more captures, warm ones: with the hook, the project's own checks took 3.3 times the CPU time
ROOM = 4


class Waits(NamedTuple):
    """A trace cost for ``guard accept``."""

    key: str
    """Its environment: a section's name."""
    file: bytes
    """A cost file with that section."""
    bound: str | None
    """Digest of the section that it was compared with."""


class Compared(NamedTuple):
    """What a count means."""

    counted: Counted
    finding: Finding | None = None
    waits: Waits | None = None
    """None where an accept would write nothing."""


def count(setting: Setting, check: str, asked: Asked, take: Take, seconds: float) -> TraceCost | str | None:
    """Count, where that is asked for; text is why there is no count, None that nobody wants one.

    Args:
        setting: of the run.
        check: its id.
        asked: by the check.
        take: counts.
        seconds: what the check's own capture took.
    """
    wanted = setting.config.trace_cost if asked.wanted is None else asked.wanted
    if setting.counting == "off" or not wanted or setting.fixes == "off":  # without fixes, nothing can be accepted
        return None
    left = setting.watch.left()
    if seconds * ROOM > left:
        return f"its capture took {seconds:.0f} s: more of them might not end within its timeout"
    with setting.watch.phase("counting"):
        return take(asked, _known(setting, check))


def _known(setting: Setting, check: str) -> tuple[int, ...]:
    """Return the counts that were accepted, here or elsewhere: a capture that makes as many needs no second one."""
    data = Store(setting.config).read_cost(check)
    try:
        return tuple(section.calls for section in costs.parse(data, check).values()) if data is not None else ()
    except CostSyntaxError:  # told when it is compared
        return ()


def against_accepted(setting: Setting, check: str, cost: TraceCost, asked: Asked) -> Compared:
    """Compare a count with what the check's cost file has under this environment."""
    store, key = Store(setting.config), str(cost.key)
    data = store.read_cost(check)
    tolerance = asked.tolerance if asked.tolerance is not None else setting.config.trace_tolerance
    try:
        sections = costs.parse(data, check, store.shown(store.cost_path(check))) if data is not None else {}
    except CostSyntaxError as error:
        judged = compare(None, cost, tolerance)
        return Compared(Counted("new", cost.calls), _unreadable(check, error), _waits(check, key, judged, data))
    accepted = sections.get(key)
    judged = compare(accepted, cost, tolerance)
    counted = Counted(judged.state, cost.calls, None if accepted is None else accepted.calls)
    waits = _waits(check, key, judged, data)
    if judged.state == "worse":
        return Compared(counted, _worse(check, judged), waits)
    if judged.state == "better":
        return Compared(replace(counted, said=_better(check, judged)), waits=waits)
    if accepted is None and sections:
        counted = replace(counted, state="elsewhere")
    return Compared(counted, waits=waits)


def is_due(setting: Setting, compared: Compared, *, recorded: bool) -> bool:
    """Tell whether a trace cost waits for ``guard accept``.

    One that was never accepted does not by itself: it is recorded with its graph, or where ``guard update`` asks.
    """
    moved = compared.finding is not None or compared.counted.state in ("worse", "better")
    return compared.waits is not None and (moved or recorded or setting.counting == "record")


def with_drift(
    findings: tuple[Finding, ...], compared: Compared, fails: Callable[[Finding], bool]
) -> tuple[Finding, ...]:
    """Return what was found of graph and trace cost, which is part of a drift's cost where that fails anyhow."""
    worse = compared.finding
    if worse is None or worse.kind != TRACE_COST:
        return findings if worse is None else (*findings, worse)
    drifts = [finding for finding in findings if finding.kind == "drift" and fails(finding)]
    if not drifts:
        return findings if any(finding.kind == "missing" for finding in findings) else (*findings, worse)
    said = (f"costs more to trace: {worse.title}", *(f"  {line}" for line in worse.lines))
    first = replace(drifts[0], cost=(*drifts[0].cost, *said))
    return tuple(first if finding is drifts[0] else finding for finding in findings)


def _waits(check: str, key: str, judged: Judged, data: bytes | None) -> Waits | None:
    section: Section | None = judged.accept
    if section is None:
        return None
    return Waits(key, costs.dump(check, {key: section}), costs.bound(data, check, key))


def _worse(check: str, judged: Judged) -> Finding:
    return Finding(TRACE_COST, check, judged.title, judged.lines, f"guard accept {quoted(check)}")


def _better(check: str, judged: Judged) -> str:
    return f"cheaper to trace, {judged.title}; to keep it: guard accept {quoted(check)}"


def _unreadable(check: str, error: CostSyntaxError) -> Finding:
    where = f"{error.path}:{error.line}"
    lines = (where, "an accept records this environment anew, and drops what the file has of others")
    return Finding(
        "unreadable",
        check,
        f"its trace cost does not parse: {error.message}",
        lines,
        f"guard accept {quoted(check)}",
        where,
    )

"""Run what one call of ``guard.check`` captured beside its baseline, through an entry of pytest-benchmark's."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.baselines import costs
from guard.baselines.costs import CostSyntaxError
from guard.baselines.store import Store
from guard.cost.paired import Benched, Paired
from guard.errors import GraphSyntaxError
from guard.ir.parser import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.config import Config
    from guard.cost.run.couple import Couple
    from guard.findings import Outcome

TOGETHER = "together"
"""Stands for all graphs of a check, whose ratio is of one after the other."""


def bench(config: Config, outcome: Outcome, captured: Any, entry: Callable[[], Any]) -> Benched:
    """Run baseline and current side by side.

    Args:
        config: where baselines are.
        outcome: what was found of the check; it may hold or have drifted.
        captured: what the tracer gave: the program, and constants by digest.
        entry: makes the fixture of pytest-benchmark for this check; not called where nothing is run.
    """
    store = Store(config)
    path, data = store.shown(store.path(outcome.check)), store.read(outcome.check)
    if data is None:
        return Benched(outcome.check, "there is no baseline", path=path)
    try:
        baseline = parse_bytes(data, path)
    except GraphSyntaxError as error:
        return Benched(outcome.check, error.problem, path=path)
    drifts = tuple(dict.fromkeys(finding.drift for finding in outcome.findings if finding.drift))
    known = Benched(outcome.check, drifts=drifts, path=path)
    from guard.cost.run.couple import couples
    from guard.cost.run.setting import alone

    with alone():
        found = list(couples(baseline, captured.program, captured.constants))
        ready = [one for one in found if not isinstance(one, Paired)]
        if len(ready) < len(found) or not found:
            return replace(known, pairs=tuple(one for one in found if isinstance(one, Paired)))
        fixture = entry()
        fixture.extra_info["trace_cost"] = _trace_cost(store, outcome)
        return replace(known, pairs=_timed(ready, fixture, known))


def _trace_cost(store: Store, outcome: Outcome) -> int | None:
    """Calls of a trace: counted in this run, or accepted for this torch, Python and system; None where not known."""
    if outcome.counted is not None and outcome.counted.calls is not None:
        return outcome.counted.calls
    data = store.read_cost(outcome.check)
    if data is None:
        return None
    from guard.cost.trace.key import key

    here = str(key(())).removesuffix("none")  # whichever fixes were applied: the newest torch needs none
    with suppress(CostSyntaxError):
        sections = costs.parse(data, outcome.check)
        return next((section.calls for name, section in sections.items() if name.startswith(here)), None)
    return None


def _timed(ready: list[Couple], fixture: Any, known: Benched) -> tuple[Paired, ...]:
    from guard.cost.run.couple import why_not
    from guard.cost.run.rounds import rounds

    found = [Paired(both.name, values=both.values, difference=both.difference) for both in ready]
    wrong = next((pair for pair in found if pair.difference is not None), found[0])
    try:
        ratio = rounds(ready, fixture.pedantic)
        kernels = [both.kernels() for both in ready]
    except Exception as error:  # noqa: BLE001 - an operator's own, on inputs that guard drew
        fixture.skipped = True  # else pytest-benchmark warns that its fixture was not used
        return (why_not(found[0].graph, error),)
    launched = [pair for pair in kernels if pair is not None]
    together = (sum(was for was, _ in launched), sum(now for _, now in launched)) if launched else None
    whole = replace(wrong, ratio=ratio, kernels=together)
    fixture.extra_info.update(extra_info(known, whole))
    return (whole,) if len(found) == 1 else (*found, replace(whole, graph=TOGETHER, difference=None))


def extra_info(known: Benched, whole: Paired) -> dict[str, Any]:
    """Return what pytest-benchmark's JSON says of a check beside current's rounds; times are seconds a call."""
    found = {
        "check": known.check,
        "drifts": list(known.drifts),
        "values": whole.values,
        "difference": whole.difference,
        "kernels": whole.kernels,
    }
    if whole.ratio is None:
        return found
    return found | {
        "ratio": whole.ratio.ratio,
        "baseline": whole.ratio.baseline,
        "report_only": whole.ratio.report_only,
    }

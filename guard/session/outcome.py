"""One capture beside its baseline: what was found, and what waits for ``guard accept``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.baselines.store import Store
from guard.findings import Counted, Outcome
from guard.ir.printer import print_program
from guard.policy import must_fail
from guard.session import record
from guard.session.costs import cost_lines
from guard.session.judge import judge
from guard.session.replay import unfaithful
from guard.session.trace import Compared, against_accepted, is_due, with_drift

if TYPE_CHECKING:
    from guard.cost.calls import TraceCost
    from guard.findings import Finding, Replayed
    from guard.session.asked import Asked
    from guard.session.setting import Setting
    from guard.session.subject import Subject


def judged(  # noqa: PLR0913, PLR0917 - all that an outcome depends on
    setting: Setting,
    test: Subject,
    check: str,
    captured: Any,
    asked: Asked,
    cost: TraceCost | str | None,
    seen: Replayed | None = None,
) -> Outcome:
    """Compare a capture and its count with what was accepted; keep what an accept would take, drop what holds again.

    Args:
        setting: of the run.
        test: that the check is in.
        check: its id.
        captured: what the tracer gave (guard.tracers.capture.Captured).
        asked: by the check.
        cost: its trace cost, or why there is none; None where nobody asked for one.
        seen: what a replay of it saw; None where it was not asked for.
    """
    text, store = print_program(captured.program), Store(setting.config)
    baseline = store.read(check)
    found = judge(captured.program, text, baseline, store.shown(store.path(check)), cost_lines)
    compared = _compared(setting, check, cost, asked)
    outcome = Outcome(check, test.nodeid, replayed=seen)
    waits = None
    findings = found
    if compared is not None:
        findings = with_drift(found, compared, lambda finding: fails(setting, asked, finding))
        waits = compared.waits if is_due(setting, compared, recorded=bool(found)) else None
        notes = (compared.counted.said,) if compared.counted.state == "better" else ()
        outcome = replace(outcome, counted=compared.counted, notes=notes)
    findings = (*unfaithful(check, seen), *findings)
    if not findings and waits is None:
        if setting.fixes == "on":  # without fixes, nothing is said of what a run with them saw
            record.forget(setting, check, counted=compared is not None and compared.counted.calls is not None)
        return outcome
    # what was captured without fixes cannot be accepted
    findings = tuple(
        replace(f, source=f.source or test.source, fix=f.fix if setting.fixes == "on" else None) for f in findings
    )
    if not found and waits is None:  # unfaithful, and as it was recorded
        return replace(outcome, findings=findings)
    # graphs that are equal may differ in names, which is no reason to rewrite one
    to_be = text if found else None
    sources = (*captured.sources, test.source.rpartition(":")[0])
    written = record.write(setting, check, to_be, sources, record.Bound(baseline, waits, _wrong(seen)))
    if baseline is not None and found:
        record.keep(setting, captured.constants)
    return replace(outcome, findings=findings, pending=written)


def _wrong(seen: Replayed | None) -> str | None:
    """Return why nothing of a capture may become a baseline."""
    if seen is None or seen.state != "unfaithful":
        return None
    return "; ".join((seen.reason, *seen.lines))


def fails(setting: Setting, asked: Asked, finding: Finding) -> bool:
    """Tell whether a drift fails the check whatever its cause turns out to be."""
    return must_fail((*asked.rules, *setting.config.policy), finding.drift)


def _compared(setting: Setting, check: str, cost: TraceCost | str | None, asked: Asked) -> Compared | None:
    if cost is None:
        return None
    if isinstance(cost, str):
        accepted = Store(setting.config).cost_path(check).exists()
        return Compared(Counted("lost" if accepted else "none", said=cost))
    return against_accepted(setting, check, cost, asked)

"""The reports of a run's parts, joined into one run. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.commands.planned import HOST, fault, kind, sorted_out
from guard.findings import Finding, Outcome, Run
from guard.report.summary import summary
from guard.session.settle import merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from guard.commands.planned import Broken, Plan, Report

FORK = "fork"


def join(plan: Plan, reports: Sequence[Report], broken: Sequence[Broken] = ()) -> Run:
    """Return the run that the parts make up; what is not as planned is a finding, and not joined.

    The run is ``full`` where every check of the project ran: its orphans can be judged then, and are not yet.
    """
    commit = plan.commit or next((one.run.commit for one in reports), "")
    kinds = dict.fromkeys(one.device for one in sorted(reports, key=lambda one: one.where))
    main = _main(kinds, plan)
    parts = [sorted_out(_of(reports, main), plan.expect, commit, "")]
    parts += [sorted_out(_of(reports, other), None, commit, other) for other in kinds if other != main]
    told, notes = _left_out(plan, [other for other in kinds if other != main], set(kinds))
    wrong = [fault(one.where, f"does not read: {one.problem}") for one in broken]
    wrong += [finding for part in parts for finding in part.wrong] + told
    joined = _joined(parts[0].reports)
    beside = [(part.device, _joined(part.reports)) for part in parts[1:]]
    own = tuple(Outcome("", "", (finding,)) for finding in wrong)
    others = tuple(_on(outcome, device) for device, run in beside for outcome in run.outcomes)
    return replace(
        joined,
        outcomes=(*own, *joined.outcomes, *others),
        full=joined.full and not wrong,
        interrupted=joined.interrupted or any(run.interrupted for _, run in beside),
        seconds=max((run.seconds for run in (joined, *(run for _, run in beside))), default=0.0),
        known=tuple(dict.fromkeys((*joined.known, *(check for _, run in beside for check in run.known)))),
        notes=tuple(dict.fromkeys((*joined.notes, *(f"{device}: {summary(run)}" for device, run in beside), *notes))),
        commit=commit,
    )


def _main(kinds: Iterable[str], plan: Plan) -> str:
    """Return the device whose shards were counted: the processor, unless everything ran on one other."""
    planned = {kind(device) for device in plan.devices}
    others = [one for one in kinds if one not in planned]
    return others[0] if len(others) == 1 else HOST


def _of(reports: Sequence[Report], device: str) -> list[Report]:
    return sorted((one for one in reports if one.device == device), key=lambda one: (one.shard.number, one.where))


def _joined(reports: Sequence[Report]) -> Run:
    runs = [one.run for one in reports]
    if not runs:
        return Run()
    return replace(
        runs[0],
        outcomes=merge(outcome for run in runs for outcome in run.outcomes),
        seconds=max(run.seconds for run in runs),
        full=all(one.shard.complete for one in reports),
        collected=sum(run.collected for run in runs),
        interrupted=any(run.interrupted for run in runs),
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
        known=tuple(dict.fromkeys(check for run in runs for check in run.known)),
        selected=tuple(dict.fromkeys(check for run in runs for check in run.selected)),
        shard=None,
    )


def _on(outcome: Outcome, device: str) -> Outcome:
    """Say of what was found on a device beside that it was there."""

    def told(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return tuple(replace(finding, title=f"{finding.title}, on {device}") for finding in findings)

    return replace(
        outcome,
        device=device,
        findings=told(outcome.findings),
        warned=told(outcome.warned),
        ignored=told(outcome.ignored),
    )


def _left_out(plan: Plan, beside: Sequence[str], kinds: set[str]) -> tuple[list[Finding], list[str]]:
    """Return findings and notes on devices that are not there."""
    wanted = {kind(device) for device in plan.devices}
    wrong = [fault(device, "this device's report was planned and did not arrive") for device in sorted(wanted - kinds)]
    has_gpu = bool(set(beside) | wanted | (kinds - {HOST}))
    reasons = dict(plan.not_run)
    must = plan.gpu == "required" or (plan.gpu == "unless-fork" and reasons.get("gpu") != FORK)
    if must and not has_gpu:
        why = f"not run ({reasons.get('gpu', 'nobody planned it')})"
        wrong.append(fault("gpu", f'{why}, and the policy is gpu = "{plan.gpu}"'))
        reasons.pop("gpu", None)
    if has_gpu:
        reasons.pop("gpu", None)
    return wrong, [f"{name}: not run ({why})" for name, why in reasons.items()]

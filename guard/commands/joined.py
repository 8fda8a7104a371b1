"""The reports of a run's parts, held against what was planned, and joined into one run. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.names import quoted
from guard.findings import Finding, Outcome, Run, Shard
from guard.report.summary import summary
from guard.session.settle import merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HOST = "cpu"
FORK = "fork"
NAMED = 3
"""Ids that a message names."""


class Plan(NamedTuple):
    """What was to arrive."""

    expect: int
    """Shards of the run that all others stand beside."""
    devices: tuple[str, ...] = ()
    """Devices whose run is to stand beside."""
    not_run: tuple[tuple[str, str], ...] = ()
    """What was left out, and why."""
    gpu: str = "optional"
    """The policy: whether a GPU may be left out."""
    commit: str = ""
    """What is checked out, "" where nobody knows: then it is that of the first report."""


class Report(NamedTuple):
    """One that arrived."""

    where: str
    """Its file, for messages."""
    run: Run

    @property
    def device(self) -> str:
        """``cuda`` of ``cuda:0``."""
        return _kind(self.run.environment.get("device", HOST))

    @property
    def shard(self) -> Shard:
        """Which part it is: all of it where the run was not split."""
        return self.run.shard or Shard(1, 1, complete=self.run.full)


class Broken(NamedTuple):
    """What arrived and is no report."""

    where: str
    problem: str


class _Group(NamedTuple):
    """The runs of one device."""

    reports: tuple[Report, ...]
    """Those that are what was planned, in the order of shards."""
    wrong: tuple[Finding, ...]
    device: str = ""
    """"" of the run that others stand beside."""


def join(plan: Plan, reports: Sequence[Report], broken: Sequence[Broken] = ()) -> Run:
    """Return the run that the parts make up; what is not as planned is a finding, and not joined.

    The run is ``full`` where every check of the project ran: its orphans can be judged then, and are not yet.
    """
    commit = plan.commit or next((one.run.commit for one in reports), "")
    kinds = dict.fromkeys(one.device for one in sorted(reports, key=lambda one: one.where))
    main = _main(kinds, plan)
    parts = [_sorted_out(_of(reports, main), plan.expect, commit, "")]
    parts += [_sorted_out(_of(reports, kind), None, commit, kind) for kind in kinds if kind != main]
    told, notes = _left_out(plan, [kind for kind in kinds if kind != main], set(kinds))
    wrong = [_wrong(one.where, f"does not read: {one.problem}") for one in broken]
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
    planned = {_kind(device) for device in plan.devices}
    others = [kind for kind in kinds if kind not in planned]
    return others[0] if len(others) == 1 else HOST


def _of(reports: Sequence[Report], kind: str) -> list[Report]:
    return sorted((one for one in reports if one.device == kind), key=lambda one: (one.shard.number, one.where))


def _sorted_out(reports: Sequence[Report], expect: int | None, commit: str, device: str) -> _Group:
    """Tell what was planned from what is foreign, there twice, or not there."""
    of = expect or (reports[0].shard.of if reports else 1)
    good: dict[int, Report] = {}
    wrong: list[Finding] = []
    told: set[int] = set()
    for one in reports:
        number = one.shard.number
        why = _foreign(one, next(iter(good.values()), None), of, commit)
        if why is None and number in good:
            why = f"is shard {number} of {of} again: {quoted(good[number].where)} is, too"
        if why is None:
            good[number] = one
        else:
            wrong.append(_wrong(one.where, why))
            told.add(number)
    missing = [number for number in range(1, of + 1) if number not in good and number not in told]
    where = f" of {device}" if device else ""
    wrong += [_wrong(f"{number}/{of}", f"this shard{where} did not arrive") for number in missing]
    if len(good) == of and not wrong:
        wrong += list(_not_once([one.run for one in good.values()]))
    return _Group(tuple(good[number] for number in sorted(good)), tuple(wrong), device)


def _foreign(one: Report, other: Report | None, of: int, commit: str) -> str | None:
    """Say why a report is none of this run, None where it is."""
    shard, run = one.shard, one.run
    if run.commit != commit:
        return f"is of another commit: wanted {commit[:10]}, got {run.commit[:10] or 'none'}"
    if shard.of != of or shard.number > of:
        return f"is shard {shard.number} of {shard.of}: wanted one of {of}"
    return None if other is None else _unlike(one, other)


def _unlike(one: Report, other: Report) -> str | None:
    """Say what tells a report from another of the same run, None where nothing does."""
    shard, run = one.shard, one.run
    than = f"than {quoted(other.where)}"
    if shard.durations != other.shard.durations:
        return f"was split by other durations {than}: give every shard the same file"
    if set(shard.left_out) != set(other.shard.left_out):
        return f"ran with another -k, -m or ids {than}"
    here, there = (frozenset(one.run.environment.items()) for one in (one, other))
    if here != there:
        return f"ran in another environment {than}: {_pairs(here - there)}; wanted {_pairs(there - here)}"
    odd = sorted(set(run.known) ^ set(other.run.known))
    return f"collected other checks {than}: {_named(odd)}" if odd else None


def _not_once(runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield what is wrong with how the checks were shared out: each is to be in exactly one shard."""
    if runs[0].shard is None:
        return
    counts = Counter(check for run in runs for check in set(run.selected))
    twice = sorted(check for check, count in counts.items() if count > 1)
    planned = set(runs[0].known) - set(runs[0].shard.left_out)
    none = sorted(planned - set(counts))
    if twice:
        yield _wrong(f"1..{len(runs)}", f"more than one shard ran {_named(twice)}")
    if none:
        yield _wrong(f"1..{len(runs)}", f"no shard ran {_named(none)}")


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
    wanted = {_kind(device) for device in plan.devices}
    wrong = [_wrong(device, "this device's report was planned and did not arrive") for device in sorted(wanted - kinds)]
    has_gpu = bool(set(beside) | wanted | (kinds - {HOST}))
    reasons = dict(plan.not_run)
    must = plan.gpu == "required" or (plan.gpu == "unless-fork" and reasons.get("gpu") != FORK)
    if must and not has_gpu:
        why = f"not run ({reasons.get('gpu', 'nobody planned it')})"
        wrong.append(_wrong("gpu", f'{why}, and the policy is gpu = "{plan.gpu}"'))
        reasons.pop("gpu", None)
    if has_gpu:
        reasons.pop("gpu", None)
    return wrong, [f"{name}: not run ({why})" for name, why in reasons.items()]


def _wrong(subject: str, title: str) -> Finding:
    return Finding("shard", subject, title)


def _named(checks: Sequence[str]) -> str:
    more = f" and {len(checks) - NAMED} more" if len(checks) > NAMED else ""
    return f"{', '.join(quoted(check) for check in checks[:NAMED])}{more}"


def _pairs(environment: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(environment)) or "less"


def _kind(device: str) -> str:
    return device.partition(":")[0]

"""The reports of a run's parts, held against what was planned: which are of this run, and what is wrong. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.names import quoted
from guard.findings import Finding, Run, Shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HOST = "cpu"
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
        return kind(self.run.environment.get("device", HOST))

    @property
    def shard(self) -> Shard:
        """Which part it is: all of it where the run was not split."""
        return self.run.shard or Shard(1, 1, complete=self.run.full)


class Broken(NamedTuple):
    """What arrived and is no report."""

    where: str
    problem: str


class Group(NamedTuple):
    """The runs of one device."""

    reports: tuple[Report, ...]
    """Those that are what was planned, in the order of shards."""
    wrong: tuple[Finding, ...]
    device: str = ""
    """"" of the run that others stand beside."""


def sorted_out(reports: Sequence[Report], expect: int | None, commit: str, device: str) -> Group:
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
            wrong.append(fault(one.where, why))
            told.add(number)
    missing = [number for number in range(1, of + 1) if number not in good and number not in told]
    where = f" of {device}" if device else ""
    wrong += [fault(f"{number}/{of}", f"this shard{where} did not arrive") for number in missing]
    if len(good) == of and not wrong:
        wrong += list(_not_once([one.run for one in good.values()]))
    return Group(tuple(good[number] for number in sorted(good)), tuple(wrong), device)


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
        yield fault(f"1..{len(runs)}", f"more than one shard ran {_named(twice)}")
    if none:
        yield fault(f"1..{len(runs)}", f"no shard ran {_named(none)}")


def fault(subject: str, title: str) -> Finding:
    """Return the finding on a report that is not as planned."""
    return Finding("shard", subject, title)


def _named(checks: Sequence[str]) -> str:
    more = f" and {len(checks) - NAMED} more" if len(checks) > NAMED else ""
    return f"{', '.join(quoted(check) for check in checks[:NAMED])}{more}"


def _pairs(environment: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(environment)) or "less"


def kind(device: str) -> str:
    """Return ``cuda`` of ``cuda:0``."""
    return device.partition(":")[0]

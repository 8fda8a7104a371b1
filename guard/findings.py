"""What a run found out about its checks: pure data that crosses process borders as JSON. Knows no torch, no pytest."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from guard.policy import Rule

HOLDS = "holds"
SKIPPED = "skipped"
UNCHANGED = "unchanged"
"""It held when it was last traced, and nothing that it depends on has moved since: it did not run."""
# Kinds of finding, worst first. README and docs/json.md list them.
KINDS = (
    "internal",   # guard itself failed
    "import",     # the check's module does not import, or pytest cannot collect it
    "shard",      # a report of this run is missing, or is not what was planned
    "refused",    # the check cannot be guarded as it is written (automatic id, two checks for one file)
    "crash",      # the worker died: signal or exit
    "timeout",    # the check did not end
    "unreadable", # the baseline does not parse
    "error",      # the capture started to fail, or fails differently
    "unfaithful", # the captured graph does not compute what the program computes
    "drift",      # baseline and current differ
    "alarm",      # policy: the graph shows a sign that it is wrong
    "trace-cost", # tracing does more than was accepted
    "works",      # the baseline is an error, and the capture now works
    "fix",        # policy: the capture needs a fix of guard's
    "missing",    # no baseline
    "orphan",     # a baseline without a check
    "empty",      # a check that guards nothing
    "failed",     # the test failed by itself
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that fails a check."""

    kind: str
    """One of KINDS."""
    check: str
    """Short id."""
    title: str
    """What follows the id on the first line: lower case, no full stop."""
    lines: tuple[str, ...] = ()
    """The body: changed nodes, wanted and got, cause."""
    fix: str | None = None
    """One pasteable command, or None."""
    source: str | None = None
    """``path:line`` of the check or of the changed node."""
    drift: str = ""
    """Of a drift, its class: one of guard.drift.change.CLASSES."""
    by: str = ""
    """Of a drift, who moved it: ``torch``, ``code`` or ``both``; "" where that is not known."""
    evidence: tuple[str, ...] = ()
    """What has changed since the baseline, and what that says of ``by``; of a check's first finding only."""
    cost: tuple[str, ...] = ()
    """What current costs more or less than the baseline, and the nodes that do; of a check's first drift only."""
    reason: str = ""
    """Why policy warns of it or ignores it."""


@dataclass(frozen=True)
class Counted:
    """What became of a check's trace cost."""

    state: str
    """``holds``, ``worse``, ``better``; ``new`` where none was accepted, ``elsewhere`` where only under another
    environment; ``none`` where nothing was counted, ``lost`` where that leaves an accepted one without its guard."""
    calls: int | None = None
    """Call events of this run's capture."""
    baseline: int | None = None
    """Those that were accepted under this environment."""
    said: str = ""
    """Of ``better``, the note; of ``none`` and ``lost``, the reason."""


@dataclass(frozen=True)
class Replayed:
    """What became of running a check's graph against its program."""

    state: str
    """``replayed``: the same on all inputs; ``unfaithful``; ``not replayed``: see ``reason``."""
    on: tuple[str, ...] = ()
    """Inputs on which both ran to the end: ``example``, ``fresh``, ``second size``."""
    reason: str = ""
    """Why it was not replayed, or only in part; of ``unfaithful``, what differs and on which inputs."""
    lines: tuple[str, ...] = ()
    """Of ``unfaithful``: the first wrong value, wanted and got."""


@dataclass(frozen=True)
class Outcome:
    """One check's result: one call of ``guard.check``, or a test that never reached one."""

    check: str
    """Short id, ``nested_trace::expand_in_function_mode[real-fake]``; "" for what belongs to no check."""
    nodeid: str
    """pytest's id."""
    findings: tuple[Finding, ...] = ()
    needs: tuple[str, ...] = ()
    """Fixes without which this capture would fail or differ."""
    skipped: str | None = None
    """The reason, where pytest skipped it."""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    pending: str | None = None
    """Path of the file that ``guard accept`` would take, relative to the root."""
    warned: tuple[Finding, ...] = ()
    """Drifts that policy shows and lets pass."""
    ignored: tuple[Finding, ...] = ()
    """Drifts that policy lets pass unseen."""
    policy: tuple[Rule, ...] = ()
    """The check's own rules, which come before the project's."""
    counted: Counted | None = None
    """Its trace cost; None where that was not asked for."""
    source: str = ""
    """``path:line`` of the test, relative to the root; "" where that is not known."""
    device: str = ""
    """In a merged run, the device of a run that stands beside the others; else ""."""
    unchanged: bool = False
    """It did not run: nothing that it depends on has moved since it last held, or was skipped."""
    replayed: Replayed | None = None
    """Whether its graph computes what its program computes; None where that was not asked for."""
    graph: str = ""
    """Digest that equal captures have in common; only where several are compared."""

    @property
    def status(self) -> str:
        """``holds``, ``unchanged``, ``skipped``, or the worst finding's kind."""
        if self.findings:
            return min((f.kind for f in self.findings), key=KINDS.index)
        if self.skipped is not None:
            return SKIPPED
        return UNCHANGED if self.unchanged else HOLDS


@dataclass(frozen=True)
class Shard:
    """Which part of a run that was split this one is."""

    number: int
    """From 1."""
    of: int
    durations: str = ""
    """Digest of the durations that decided who runs what; "" where the checks were split by number alone."""
    complete: bool = False
    """All of its checks ran, and what was split is every check of the project."""
    left_out: tuple[str, ...] = ()
    """Known checks that are in no shard: -k, -m, ids or a conftest left them out."""


@dataclass(frozen=True)
class Run:
    """What one ``guard check`` saw: the input of verdict and report."""

    outcomes: tuple[Outcome, ...] = ()
    seconds: float = 0.0
    full: bool = False
    """Every check of the checks' root ran: only then are orphans judged."""
    collected: int = 0
    """Tests that were selected."""
    interrupted: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Short ids of every test that was collected, also of those that were left out."""
    selected: tuple[str, ...] = ()
    """Short ids of those that were to run."""
    shard: Shard | None = None
    """None where the run is not split."""
    commit: str = ""
    """Full hash of what was checked out, "" where nobody knows."""


def outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    """Plain data that JSON and execnet carry."""
    return asdict(outcome)


def outcome_from_json(data: dict[str, Any]) -> Outcome:
    """Inverse of outcome_to_json."""
    found = {name: tuple(map(_finding, data[name])) for name in ("findings", "warned", "ignored")}
    plural = {name: tuple(data[name]) for name in ("needs", "notes")}
    policy = tuple(Rule(*row) for row in data["policy"])
    counted = None if data.get("counted") is None else Counted(**data["counted"])
    own = {"policy": policy, "counted": counted, "replayed": _replayed(data.get("replayed"))}
    return Outcome(**{**data, **plural, **found, **own})


def _replayed(data: dict[str, Any] | None) -> Replayed | None:
    return None if data is None else Replayed(**{**data, "on": tuple(data["on"]), "lines": tuple(data["lines"])})


def _finding(data: dict[str, Any]) -> Finding:
    return Finding(
        **{**data, "lines": tuple(data["lines"]), "evidence": tuple(data["evidence"]), "cost": tuple(data["cost"])}
    )

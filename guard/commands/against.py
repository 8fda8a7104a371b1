"""``guard check --against REF``: what REF's code captures under the installed torch tells who moved a graph."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from guard.baselines import history
from guard.baselines.names import quoted
from guard.baselines.pending import Pending, read_pending
from guard.baselines.store import Store
from guard.commands import ref_side
from guard.commands.worktree import checked_out
from guard.drift import cause
from guard.drift.trial import Trial, command
from guard.drift.trial import settle as settle_trial
from guard.environment import current
from guard.errors import GraphSyntaxError, UsageError
from guard.ir.canonical import equal
from guard.ir.parser import parse_bytes
from guard.session.evidence import MOVED, gather, is_moved, moved, others, with_cause
from guard.session.judge import judge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.baselines.history import Repository
    from guard.commands.options import CheckOptions
    from guard.commands.ref_side import RefSide
    from guard.config import Config
    from guard.drift.cause import Evidence
    from guard.findings import Finding, Outcome, Run

MANY = 100  # ids on a command line, whose length is limited


@dataclass(frozen=True)
class Ref:
    """The commit that was asked for."""

    repository: Repository
    commit: str
    name: str
    """As typed, with the commit behind it."""


def find(config: Config, options: CheckOptions) -> Ref:
    """Find the commit before anything is traced.

    Raises:
        UsageError: ``-x`` or ``--pdb`` were given too: they end a run before there is something to compare.
        GitError: git does not know it.
    """
    for given, flag in ((options.exitfirst, "-x"), (options.pdb, "--pdb")):
        if given:
            raise UsageError(f'"--against" and "{flag}" exclude each other', f"guard check {flag}")
    repository = history.open_repository(config.root)
    commit = history.resolve(repository, options.against or "HEAD")
    short = cause.abbreviated(commit)
    name = short if commit.startswith(options.against or "-") else f"{options.against} ({short})"
    return Ref(repository, commit, name)


def settle(run: Run, config: Config, options: CheckOptions, ref: Ref) -> Run:
    """Trace the commit's code where it matters, and say who moved what.

    A missing baseline is no finding here: the commit's capture stands in for it, and a difference is the code's.
    """
    run = replace(run, environment={**run.environment, "against": ref.commit})
    asked = tuple(outcome.check for outcome in run.outcomes if _is_missing(outcome) or is_moved(outcome))
    if not asked:
        return run
    if not options.quiet:
        print(f"tracing the code of {ref.name}", file=sys.stderr)
    with checked_out(ref.repository, ref.commit) as tree:
        try:
            side = ref_side.trace(config, _options(options, run, asked), ref.repository, tree)
        except UsageError as error:
            raise UsageError(f"{ref.name}: {error.problem}", error.tip) from None
    known = _evidence(run, config, options)
    compared = _Comparison(config, ref, side, known, run.environment["torch"])
    outcomes = tuple(compared.outcome(outcome) for outcome in run.outcomes)
    return replace(run, outcomes=outcomes, notes=(*run.notes, *compared.notes(run, whole=_is_whole(options, run))))


def _evidence(run: Run, config: Config, options: CheckOptions) -> Mapping[str, Evidence]:
    """Return what is known of the baselines; nothing where they were recorded by another tracer, with fixes."""
    checks = [outcome.check for outcome in run.outcomes if is_moved(outcome)]
    return gather(config, checks, current(options.device)) if checks and options.fixes == "on" else {}


def _options(options: CheckOptions, run: Run, asked: tuple[str, ...]) -> CheckOptions:
    """Choose the checks that are in question; all where that is all, so that those which are gone are seen."""
    ours = replace(options, lenient=True, pytest_args=options.pytest_args)
    if _is_whole(options, run) or len(asked) > MANY:
        return ours
    return replace(ours, ids=asked, keyword=None, markers=None)


def _is_whole(options: CheckOptions, run: Run) -> bool:
    """Tell whether every check of the project is in question, as where no baselines are stored."""
    return run.full and not options.ids and all(_is_missing(o) or is_moved(o) for o in run.outcomes)


def _is_missing(outcome: Outcome) -> bool:
    return outcome.pending is not None and any(finding.kind == "missing" for finding in outcome.findings)


class _Comparison:
    """Current and baselines beside what one commit's code captures."""

    def __init__(self, config: Config, ref: Ref, side: RefSide, evidence: Mapping[str, Evidence], torch: str) -> None:
        self._config, self._ref, self._side, self._evidence, self._torch = config, ref, side, evidence, torch
        self._there = {outcome.check for outcome in side.outcomes}
        self._failed = {o.check or o.nodeid: o.findings[0] for o in side.outcomes if o.findings}

    def outcome(self, outcome: Outcome) -> Outcome:
        """Settle one check."""
        if _is_missing(outcome):
            return self._compared(outcome)
        return self._settled(outcome) if is_moved(outcome) else outcome

    def notes(self, run: Run, *, whole: bool) -> tuple[str, ...]:
        """Say what of the commit could not take part."""
        checks = {outcome.check for outcome in run.outcomes}
        gone = sorted(self._there - checks - {""}) if whole else []
        imports = [o for o in self._side.outcomes if any(f.kind in ("import", "internal") for f in o.findings)]
        found = [f"{self._ref.name}: {o.nodeid or 'its run'}: {o.findings[0].title}" for o in imports]
        if gone:
            found.append(f"only {self._ref.name} has {cause.listed([quoted(check) for check in gone])}")
        return (*found, *_left_out(self._ref))

    def _settled(self, outcome: Outcome) -> Outcome:
        """Say who moved a graph that differs from its stored baseline."""
        current, baseline = self._current(outcome.check), Store(self._config).read(outcome.check)
        theirs = self._side.captures.get(outcome.check)
        if theirs is None or current is None or baseline is None:
            return self._told(outcome, "", f"not settled: {self._why_not(outcome)}")
        known = self._evidence.get(outcome.check)
        try:
            trial = Trial(
                self._ref.name,
                self._torch,
                ref_is_baseline=_equal(baseline, theirs),
                ref_is_current=_equal(theirs, current),
                same_code=known is not None and self._is_same_code(known),
            )
        except GraphSyntaxError as error:
            return self._told(outcome, "", f"not settled: {error.problem}")
        return self._told(outcome, *settle_trial(trial, known, _conclusive(known, outcome.check)))

    def _is_same_code(self, known: Evidence) -> bool:
        """Tell whether the commit's code is, for this check, that of the commit that last changed its baseline."""
        if known.commit == self._ref.commit or not known.committed:
            return known.committed
        changed = history.changed_since(self._ref.repository, known.commit, self._ref.commit)
        return not moved(known.sources, changed) and not others(self._config, known.sources, changed)

    def _compared(self, outcome: Outcome) -> Outcome:
        """Compare a check without a baseline with the commit's capture."""
        others = tuple(finding for finding in outcome.findings if finding.kind != "missing")
        missing = next(finding for finding in outcome.findings if finding.kind == "missing")
        current, theirs = self._current(outcome.check), self._side.captures.get(outcome.check)
        if theirs is None or current is None:
            if self._is_absent(outcome):
                skipped = f"{self._ref.name} does not have it" if not others else None
                return replace(outcome, findings=others, skipped=skipped, pending=None)
            title = f"nothing to compare it with: {self._why_not(outcome)}"
            return replace(outcome, findings=(*others, replace(missing, title=title, lines=(), fix=None)), pending=None)
        drifts = self._drifts(theirs, current, missing)
        compared = replace(outcome, findings=(*drifts, *others), pending=None)
        said = f"the code of {self._ref.name} captures something else under torch {self._torch}: {cause.MOVED['code']}"
        return with_cause(compared, "code", (said,))

    def _drifts(self, theirs: bytes, current: bytes, missing: Finding) -> tuple[Finding, ...]:
        program = parse_bytes(current, self._ref.name)
        found = judge(program, current.decode(), theirs, self._ref.name)
        return tuple(replace(finding, source=finding.source or missing.source, fix=None) for finding in found)

    def _told(self, outcome: Outcome, by: cause.Cause, line: str) -> Outcome:
        """Put what was settled in place of the advice to settle it, behind the evidence."""
        findings = (*outcome.findings, *outcome.warned)
        first = next(finding for finding in findings if finding.kind in MOVED)
        return with_cause(outcome, by or cast("cause.Cause", first.by), (*first.evidence[:1], line))

    def _current(self, check: str) -> bytes | None:
        found = read_pending(self._config, check)
        return found.text if isinstance(found, Pending) else None

    def _is_absent(self, outcome: Outcome) -> bool:
        """Tell whether the commit does not have the check, which no failure there has kept from being seen."""
        return outcome.check not in self._there and self._broken(outcome) is None

    def _why_not(self, outcome: Outcome) -> str:
        failed = self._failed.get(outcome.check) or self._broken(outcome)
        if failed is not None:
            return f"{self._ref.name}: {failed.kind}, {failed.title}"
        return f"{self._ref.name} {'captured nothing' if outcome.check in self._there else 'does not have it'}"

    def _broken(self, outcome: Outcome) -> Finding | None:
        """Return what kept the check's module, or every one, from being run there."""
        module = outcome.nodeid.partition("::")[0]
        broken = {name: finding for name, finding in self._failed.items() if finding.kind in ("import", "internal")}
        everything = (f for name, f in broken.items() if not name.endswith(".py") or name.endswith("conftest.py"))
        return broken.get(module) or next(everything, None)


def _conclusive(known: Evidence | None, check: str) -> str:
    """Return what to compare with instead."""
    if known is None:
        return "run it without --fixes off"
    return command(known, quoted(check)) if known.committed else "commit the baseline"


def _equal(first: bytes, second: bytes) -> bool:
    return first == second or equal(parse_bytes(first), parse_bytes(second))


def _left_out(ref: Ref) -> tuple[str, ...]:
    """Say which files of the user's are not in a fresh checkout."""
    modules = history.submodules(ref.repository, ref.commit)
    loose = sorted(history.untracked(ref.repository))
    found = (("submodules are", modules), ("untracked files are", loose))
    return tuple(f"{what} not in the copy of {ref.name}: {cause.listed(names)}" for what, names in found if names)

"""A run of the checks: capture each and compare it with its baseline. pytest is the engine; nothing is accepted."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guard import verdict
from guard.baselines.names import tests_of
from guard.baselines.origin import leave_origin
from guard.commands import against, device, engine, seeds, shards, tolerance, workers
from guard.commands import memory as memory_of
from guard.commands.collection import (
    Collection,
    located,
    modules,
    read_collection,
    refuse_unknown,
    refuse_unspeakable,
)
from guard.commands.orphans import orphans
from guard.commands.progress import progress
from guard.commands.provenance import checked_out
from guard.commands.recorder import Recorder
from guard.commands.runs import run_folder
from guard.commands.selection import from_root
from guard.commands.trace_notes import trace_notes
from guard.environment import current
from guard.errors import GuardError, UsageError
from guard.findings import Finding, Outcome, Run
from guard.freshness.surroundings import in_ci
from guard.session import evidence
from guard.session.settle import merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.commands.memory import Memory
    from guard.commands.options import CheckOptions
    from guard.config import Config

# pytest.ExitCode
INTERNAL_ERROR, USAGE_ERROR = 3, 4


class Ended(NamedTuple):
    """What a run of pytest left."""

    recorder: Recorder
    code: int
    printed: str
    collection: Collection


def run_checks(config: Config, options: CheckOptions, memory: Memory | None = None) -> Run:
    """Run what was selected and return everything that was seen; what is remembered and has not moved does not run.

    Raises:
        UsageError: What was asked for makes no sense: an id that names no check, an expression, pytest's arguments.
        GuardError: The state folder cannot be written.
    """
    started = time.perf_counter()
    engine.check_expressions(options)
    tolerance.refuse_tight(config)
    if options.require_device is not None:
        device.require(options.device)
    refuse_unspeakable(config)
    options = replace(options, ids=from_root(options.ids, config), replay="on" if in_ci(os.environ) else options.replay)
    ref = against.find(config, options) if options.against is not None else None
    run = Run(environment=current(options.device).as_dict(), commit=checked_out(config.root))
    if config.checks.is_dir():
        other = _run(run, config, seeds.elsewhere(options), None) if options.alarms == "full" else None
        if other is not None and other.interrupted:
            return other
        run = _run(run, config, options, memory)
        run = run if other is None else seeds.compared(run, other, config)
        run = _explained(run, config, options, ref)
        leave_origin(config, waiting_of(run), run.commit, run.environment)
    else:
        run = replace(run, outcomes=(_import(config.checks_prefix, "no such folder: there is nothing to check"),))
    return replace(verdict.apply(config.policy, run), seconds=time.perf_counter() - started)


def _run(run: Run, config: Config, options: CheckOptions, memory: Memory | None) -> Run:
    with run_folder(config.state) as folder:
        if memory is not None:
            memory.leave(folder)
        durations = shards.leave_durations(config, options, folder)
        silent = options.quiet or options.pdb
        # what a bar leaves would stand before the report's first command: a runner obeys one at a line's start only
        dumb = os.environ.get("TERM") == "dumb" or options.format == "github"
        with progress(sys.stderr, quiet=silent, dumb=dumb) as shown:
            ended = _pytest(config, options, folder, shown.tell)
        edges = memory_of.heard(folder)
    recorder, collection = ended.recorder, ended.collection
    if recorder.refused is not None:
        raise GuardError(f"the checks could not be run: {recorder.refused}", "nothing was lost: try again")
    if recorder.interrupted:
        return replace(run, outcomes=_settled(config, recorder), collected=recorder.collected, interrupted=True)
    notes = refuse_unknown(collection, options.ids, config)
    still = memory.outcomes(collection.unchanged) if memory is not None else ()
    outcomes = (*_settled(config, recorder), *_failed_run(config, ended), *lost(ended), *still)
    complete = not _partial(options, recorder, outcomes)
    shard = shards.shard(options, collection, durations, complete=complete)
    if complete and shard is None:
        outcomes += orphans(config, collection.known, outcomes)
    notes += trace_notes(outcomes)
    notes += _why_nothing(config, options, collection) if not outcomes and not notes and shard is None else ()
    found = replace(
        run,
        outcomes=located(outcomes, collection),
        full=complete and shard is None,
        collected=recorder.collected + len(collection.unchanged),
        notes=notes,
        known=collection.known,
        selected=(*collection.selected, *collection.unchanged),
        shard=shard,
    )
    if memory is not None:
        memory.keep(verdict.apply(config.policy, found), edges)
    return found


def _explained(run: Run, config: Config, options: CheckOptions, ref: against.Ref | None) -> Run:
    """Say who moved what drifted: by evidence, then, where it was asked for, by what another commit's code captures."""
    if run.interrupted:
        return run
    if options.evidence and options.fixes == "on":  # no baseline was recorded without fixes
        outcomes, notes = evidence.attach(config, run.outcomes, current(options.device))
        run = replace(run, outcomes=outcomes, notes=(*run.notes, *notes))
    return run if ref is None else against.settle(run, config, options, ref)


def _pytest(config: Config, options: CheckOptions, folder: Path, tell: Callable[[int, int], None]) -> Ended:
    """Run pytest; once more without a module whose import ends the process, so that the others are still checked."""
    paths = modules(config, options.ids)
    imports: list[Outcome] = []
    deadly: list[Path] = []
    while True:
        recorder = Recorder(config, folder, tell, imports=imports)
        left = [path for path in paths if path not in deadly]
        if not left:
            return Ended(recorder, 0, "", Collection())
        args = engine.arguments(config, options, folder, left, _workers(config, options, left))
        code, printed = engine.run(
            [*args, *(f"--ignore={path}" for path in deadly)], recorder, shown=options.pdb, seed=options.hash_seed
        )
        if recorder.interrupted or not recorder.died_importing:
            return Ended(recorder, code, printed, read_collection(folder))
        imports = recorder.imports
        deadly += [config.root / path for path in recorder.died_importing]


def _workers(config: Config, options: CheckOptions, paths: list[Path]) -> int:
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    single = len(options.ids) if options.ids and all("[" in selector for selector in options.ids) else None
    return workers.count(config, options.workers, files, single)


def _settled(config: Config, recorder: Recorder) -> tuple[Outcome, ...]:
    merged = (verdict.judge_fixes(outcome, config.fixes) for outcome in merge(recorder.outcomes))
    imports = {outcome.nodeid: outcome for outcome in recorder.imports}  # a run that was repeated told some again
    return (*imports.values(), *merged)


def _failed_run(config: Config, ended: Ended) -> tuple[Outcome, ...]:
    """Return an outcome for a pytest that did not get as far as running tests.

    Raises:
        UsageError: Its arguments were wrong.
    """
    lines = [line.strip() for line in ended.printed.splitlines() if line.strip()]
    if ended.code == engine.LEFT:
        return (_import(config.checks_prefix, f"a conftest or plugin ends the process: {lines[-1]}"),)
    if ended.code == USAGE_ERROR and not ended.recorder.outcomes and not ended.recorder.imports:
        if "while loading conftest" in ended.printed:
            told = [line.removeprefix("E ").strip() for line in lines if line.startswith("E ")] or lines[-1:]
            where = next(
                (line.partition("'")[2].partition("'")[0] for line in lines if "conftest" in line), "conftest.py"
            )
            return (_import(_shown(where, config), told[-1]),)
        raise UsageError("pytest refused its arguments", "\n  ".join(lines[-8:]) or None)
    known = any(finding.kind == "internal" for outcome in ended.recorder.outcomes for finding in outcome.findings)
    if ended.code == INTERNAL_ERROR and not known:
        return (Outcome("", "", (Finding("internal", "", "pytest ended with an internal error", tuple(lines[-20:])),)),)
    return ()


def _shown(path: str, config: Config) -> str:
    return Path(path).relative_to(config.root).as_posix() if Path(path).is_relative_to(config.root) else path


def lost(ended: Ended) -> tuple[Outcome, ...]:
    """Return an outcome for each check that was to run and of which nothing was heard.

    A run that stopped at a finding, as ``-x`` asks, needs none; one that a check stopped (``pytest.exit``, a
    KeyboardInterrupt of its own) must not pass.
    """
    if ended.recorder.stopped and any(outcome.findings for outcome in ended.recorder.outcomes):
        return ()
    heard = {test for outcome in ended.recorder.outcomes for test in tests_of(outcome.check)}
    silent = (check for check in ended.collection.selected if check not in heard)
    finding = Finding("crash", "", "no result: its workers ended before it ran")
    return tuple(Outcome(check, check, (replace(finding, check=check),)) for check in silent)


def _partial(options: CheckOptions, recorder: Recorder, outcomes: tuple[Outcome, ...]) -> bool:
    """Return whether some check may not have run: then a baseline without one proves nothing."""
    chosen = options.ids or options.keyword is not None or options.markers is not None or options.pytest_args
    broken = any(finding.kind in {"import", "internal"} for outcome in outcomes for finding in outcome.findings)
    return bool(chosen or broken or recorder.stopped)


def waiting_of(run: Run) -> tuple[str, ...]:
    """Return the checks that left something for ``guard accept``."""
    return tuple(outcome.check for outcome in run.outcomes if outcome.pending is not None)


def _import(subject: str, title: str) -> Outcome:
    return Outcome("", subject, (Finding("import", subject, title),))


def _why_nothing(config: Config, options: CheckOptions, collection: Collection) -> tuple[str, ...]:
    if not collection.known:
        return (f'no tests below "{config.checks_prefix}"',)
    asked = [
        f"{flag} {text!r}" for flag, text in (("-k", options.keyword), ("-m", options.markers)) if text is not None
    ]
    return (f"{' '.join(asked) or 'the selection'} leaves none of {len(collection.known)} checks",)

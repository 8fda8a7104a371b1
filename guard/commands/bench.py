"""``guard bench``: run each drifted check's graphs against its baseline's, one check after the other."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from guard import verdict
from guard.baselines import constants
from guard.baselines.accept import moved_sources
from guard.baselines.names import quoted
from guard.baselines.pending import Broken, digest, read_pending
from guard.baselines.store import Store
from guard.commands.bench_process import measure
from guard.commands.selection import select, waiting
from guard.commands.tolerance import run_noise
from guard.config import load
from guard.cost.paired import Benched
from guard.drift.classify import changes
from guard.environment import INSTALL, torch_problem, torch_version
from guard.errors import GraphSyntaxError, TorchMissingError
from guard.ir.digest import digests_of
from guard.ir.parser import parse_bytes
from guard.report import runs

if TYPE_CHECKING:
    from guard.commands.options import BenchOptions
    from guard.config import Config
    from guard.ir.graph import Program

MAX_LINES = 800_000
"""Of a file: rebuild takes 200 000 nodes, which print as at most a few lines each. A larger file is not even parsed."""


def bench(options: BenchOptions) -> int:
    """Print a line a check; 1 where current is slower, or as is asked for where values differ; 4 without a check.

    Raises:
        TorchMissingError: torch is absent or too old.
        UsageError: an id names no check.
    """
    problem = torch_problem(torch_version())
    if problem:
        raise TorchMissingError(problem, INSTALL)
    config = load()
    known = {*Store(config).ids(), *waiting(config)}
    checks = select(options.ids, known, config, "unknown check") if options.ids else sorted(known)
    noisy = run_noise(config)
    if noisy is not None:
        print(f"note: {noisy}", file=sys.stderr)
    found = tuple(_bench(config, check, options.quads) for check in checks)
    code = _exit_code(found, same=options.require_same_values)
    print(runs.as_json(found, code) if options.format == "json" else runs.as_text(found), end="")
    return code


def _exit_code(found: tuple[Benched, ...], *, same: bool) -> int:
    """Other values are no failure by themselves: whoever changes a graph on purpose changes them."""
    if not found:
        return verdict.NOTHING
    fails = any(one.slower or (same and not one.same_values) for one in found)
    return verdict.FINDINGS if fails else verdict.HOLD


def _bench(config: Config, check: str, quads: int) -> Benched:
    store = Store(config)
    waits, data = read_pending(config, check), store.read(check)
    path = store.shown(store.path(check))
    if isinstance(waits, Broken):
        return Benched(check, f"its pending file is not right: {waits.problem}", path=path)
    if waits is None or waits.meta.action == "cost":  # the graphs hold
        return Benched(check, idle=True, path=path)
    if waits.text is None or data is None:
        return Benched(check, "there is no baseline" if data is None else "it is to be removed", path=path)
    if waits.meta.baseline != digest(data):
        return Benched(check, "its baseline has changed since the check ran", path=path)
    try:
        baseline, current = _parsed(data, path), _parsed(waits.text, "its pending file")
    except GraphSyntaxError as error:
        return Benched(check, error.problem, path=path)
    for text in moved_sources(config, waits):
        print(f"note: {text}; run: guard check {quoted(check)}", file=sys.stderr)
    _tell_unkept(config, check, current)
    return _run(config, Benched(check, drifts=_drifts(baseline, current), path=path), data, waits.text, quads)


def _tell_unkept(config: Config, check: str, current: Program) -> None:
    for text in constants.missing(config, digests_of(current)):
        said = f'the bytes of constant "{text}" were not kept: at most {constants.MAX_ONE >> 20} MiB of one are'
        print(f"note: {said}; run: guard check {quoted(check)}", file=sys.stderr)


def _parsed(data: bytes, path: str) -> Program:
    lines = data.count(b"\n")
    if lines > MAX_LINES:
        raise GraphSyntaxError(f"the file has {lines} lines, wanted at most {MAX_LINES}", MAX_LINES + 1, 1, path)
    return parse_bytes(data, path)


def _drifts(baseline: Program, current: Program) -> tuple[str, ...]:
    if baseline.error is not None or current.error is not None:
        return ()
    return tuple(dict.fromkeys(change.kind for change in changes(baseline, current)))


def _run(config: Config, known: Benched, baseline: bytes, current: bytes, quads: int) -> Benched:
    print(f"running {quoted(known.check)}", file=sys.stderr, flush=True)
    again = partial(measure, baseline, current, quads, config.timeout, constants.folder(config))
    first = again()
    if isinstance(first, str):
        return Benched(known.check, first, path=known.path)
    # in a fresh process, where memory lies elsewhere
    second = again() if any(pair.is_slower for pair in first) else ()
    slower = frozenset(pair.graph for pair in second if pair.is_slower) if not isinstance(second, str) else frozenset()
    return Benched(known.check, drifts=known.drifts, pairs=first, confirmed=slower, path=known.path)

"""``guard show``: the text of one baseline or pending capture."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from guard import verdict
from guard.alarms.program import alarms, unseen
from guard.baselines import costs
from guard.baselines.names import quoted
from guard.baselines.pending import Broken, Pending, pending_path, read_pending
from guard.baselines.store import Store
from guard.commands.selection import select, waiting
from guard.config import load
from guard.cost.graph import program_cost
from guard.errors import GraphSyntaxError, GuardError, UsageError
from guard.ir.parser import parse_bytes
from guard.report.alarms import as_list, in_margin
from guard.report.alarms import as_record as marks
from guard.report.cost import as_record, as_text, traces_record, traces_text
from guard.report.json import dump
from guard.report.terminal import visible
from guard.session.costs import formulas_for

if TYPE_CHECKING:
    from guard.baselines.section import Section
    from guard.commands.options import ShowOptions
    from guard.config import Config


def show(options: ShowOptions) -> int:
    """Print one file."""
    config = load()
    check = _one(options, config)
    data = _pending(config, check) if options.pending else _baseline(config, check)
    path = pending_path(config, check) if options.pending else Store(config).path(check)
    text = data.decode(errors="backslashreplace")
    record: dict[str, Any] = {}
    if options.cost:
        priced, record = _priced(data, Store(config).shown(path), dict(options.sizes))
        traces = _traces(config, check, pending=options.pending)
        record["trace_cost"] = traces_record(traces)
        text = f"{priced}{traces_text(traces)}" if options.format == "text" else text
    elif options.sizes:
        raise UsageError("--sizes is for --cost", f"guard show {quoted(check)} --cost --sizes s0=4")
    if options.alarms and options.cost:
        raise UsageError('"--alarms" and "--cost" exclude each other', f"guard show {quoted(check)} --alarms")
    told, signs = _alarms(data, Store(config).shown(path), text, listed=options.alarms)
    record.update(signs)
    text = told if options.format == "text" and not options.cost else text
    if options.format == "json":
        kind = "pending" if options.pending else "baseline"
        print(dump({"check": check, "kind": kind, "path": Store(config).shown(path), "text": text, **record}), end="")
    else:
        # a file that somebody else wrote must not steer the terminal; a pipe gets it as it is
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    return verdict.HOLD


def _alarms(data: bytes, shown: str, text: str, *, listed: bool) -> tuple[str, dict[str, Any]]:
    """Return a file's text with its alarms in the margin, and the alarms as plain data; as it is where none speak.

    Args:
        data: the file.
        shown: its path, for messages.
        text: it, as it would be printed.
        listed: only the alarms, a line each, with what its tracer cannot show.
    """
    try:
        program = parse_bytes(data, shown)
    except GraphSyntaxError:
        if listed:
            raise
        return text, {}  # it is shown, so that somebody sees what is wrong with it
    found, missing = alarms(program), unseen(program, live=False)
    if listed:
        return as_list(found, missing), marks(found, missing)
    return in_margin(program, found) if found else text, {}


def _priced(data: bytes, shown: str, sizes: dict[str, int]) -> tuple[str, dict[str, Any]]:
    """Return the graphs with their costs, and the totals as plain data.

    Raises:
        GuardError: the file does not parse, or holds an error in place of graphs.
    """
    if data[:1] == b"{":  # the graphs hold, and their trace cost waits alone
        return "", {}
    program = parse_bytes(data, shown)
    if program.error is not None:
        raise GuardError(f"{quoted(shown)} holds a capture that failed: it has no cost")
    found = program_cost(program, formulas_for(program))
    return as_text(program, found, sizes), {"cost": as_record(found.total, sizes)}


def _traces(config: Config, check: str, *, pending: bool) -> dict[str, Section]:
    """Return the trace costs that were accepted, or the one that waits, by environment."""
    store = Store(config)
    found = read_pending(config, check) if pending else None
    data = found.cost if isinstance(found, Pending) else store.read_cost(check)
    return costs.parse(data, check, store.shown(store.cost_path(check))) if data is not None else {}


def _one(options: ShowOptions, config: Config) -> str:
    entries = Store(config).entries()
    known = {*waiting(config), *(entry.check for entry in entries if entry.check is not None)}
    found = select((options.id,), known, config, "unknown check")
    if len(found) > 1:
        raise UsageError(
            f"{quoted(options.id)} names {len(found)} checks, wanted one", f"guard show {quoted(found[0])}"
        )
    return found[0]


def _baseline(config: Config, check: str) -> bytes:
    data = Store(config).read(check)
    if data is None:
        tip = f"guard show {quoted(check)} --pending" if check in waiting(config) else None
        raise GuardError(f"{quoted(check)} has no baseline", tip)
    return data


def _pending(config: Config, check: str) -> bytes:
    found = read_pending(config, check)
    if found is None:
        raise GuardError(f"nothing is pending for {quoted(check)}", f"guard show {quoted(check)}")
    if isinstance(found, Broken):
        raise GuardError(f"the pending file of {quoted(check)} is not right: {found.problem}", "guard check")
    data = found.text if found.text is not None else found.cost
    if data is None:
        raise GuardError(f"{quoted(check)} waits to be removed: it has no text", f"guard show {quoted(check)}")
    return data

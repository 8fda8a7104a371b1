"""What waits in ``.guard/pending/``, compared with the baselines of now. Reads only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.baselines.accept import moved_sources
from guard.baselines.names import quoted
from guard.baselines.pending import Broken, digest, read_pending
from guard.baselines.store import Store
from guard.commands.waiting_cost import cost_finding, cost_warning
from guard.drift.textdiff import shorten
from guard.errors import GraphSyntaxError
from guard.findings import Finding
from guard.ir.parser import parse_bytes
from guard.ir.printer import print_program
from guard.report.pending import Entry
from guard.session.costs import cost_lines
from guard.session.judge import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.baselines.pending import Pending
    from guard.config import Config


def entries(config: Config, checks: Iterable[str]) -> tuple[Entry, ...]:
    """Return why each check waits; one that was settled meanwhile is left out."""
    found = ((check, read_pending(config, check)) for check in checks)
    return tuple(_entry(config, check, pending) for check, pending in found if pending is not None)


def text_of(config: Config, check: str) -> str:
    """Return the graphs to look at: what waits, or the baseline that is to be removed."""
    found = read_pending(config, check)
    data = (found.text or found.cost) if found is not None and not isinstance(found, Broken) else None
    return (data or Store(config).read(check) or b"").decode(errors="backslashreplace")


def _entry(config: Config, check: str, found: Pending | Broken) -> Entry:
    if isinstance(found, Broken):
        return Entry(check, (Finding("unreadable", check, f"its pending file is not right: {found.problem}"),))
    warnings = tuple(_warnings(config, found))
    if found.meta.action == "remove":
        return Entry(check, (Finding("orphan", check, "a baseline without a check: to be removed"),), warnings)
    costlier = cost_finding(config, found)
    costs = () if costlier is None else (costlier,)
    if found.text is None:
        return Entry(check, costs, warnings)
    entry = _compared(config, check, found.text)
    missing = any(finding.kind == "missing" for finding in entry.findings)  # all of it is new
    return replace(entry, findings=(*entry.findings, *(() if missing else costs)), warnings=warnings)


def _compared(config: Config, check: str, text: bytes) -> Entry:
    store = Store(config)
    shown = store.shown(store.path(check))
    try:
        program = parse_bytes(text, "the pending file")
    except GraphSyntaxError as error:
        return Entry(check, (Finding("unreadable", check, f"its pending file does not parse: {error.problem}"),))
    baseline = store.read(check)
    findings = judge(program, text.decode(), baseline, shown, cost_lines)
    if baseline is None and program.error is None:  # all of it is new
        rows = tuple(text.decode().partition("\n\n")[2].splitlines())
        lines = shorten(rows, f"guard show {quoted(check)} --pending")
        findings = tuple(replace(finding, lines=(*finding.lines, *lines)) for finding in findings)
    # whoever reviews is asked what to do with it: the command is none of the text
    found = tuple(replace(finding, fix=None) for finding in findings)
    return Entry(check, found, graph=digest(print_program(replace(program, check="")).encode()))


def _warnings(config: Config, found: Pending) -> Iterator[str]:
    yield from moved_sources(config, found)
    baseline = Store(config).read(found.check)
    if (None if baseline is None else digest(baseline)) != found.meta.baseline:
        yield f"{quoted(found.check)}: the baseline has changed since the check ran: an accept will be refused"
    if found.meta.fixes == "off":
        yield f"{quoted(found.check)} was captured with --fixes off: an accept will be refused"
    yield from (f"{quoted(found.check)}: {text}" for text in cost_warning(config, found))

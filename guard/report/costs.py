"""Accepted trace costs of many checks: as they are, and how they crept. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.baselines.names import quoted
from guard.cost.trace_compare import exponent
from guard.report.json import dump
from guard.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from guard.baselines.cost_history import Crept, History, Step
    from guard.baselines.section import Section

UNCOMMITTED = "not committed"
HASH = 10


def table(found: Mapping[str, Mapping[str, Section]]) -> str:
    """Print what is accepted now: a line a check and environment."""
    rows = [
        (quoted(check), f"{section.calls:,}", f"{100 * section.tolerance:g} %", key)
        for check, sections in found.items()
        for key, section in sorted(sections.items())
    ]
    heads = ("check", "calls", "tolerance", "environment")
    return _aligned([heads, *rows], right=(1, 2))


def history_text(found: History) -> str:
    """Print how each crept, and what is not known."""
    blocks = [_crept(one) for one in found.crept]
    return "".join(clean(block) for block in blocks) + "".join(f"note: {note}\n" for note in notes(found))


def history_json(found: History) -> str:
    """Print the same for a program; docs/json.md documents the keys."""
    rows = [_record(one) for one in found.crept]
    return dump({"history": rows, "shallow": found.shallow, "notes": list(notes(found))})


def table_json(found: Mapping[str, Mapping[str, Section]], records: Mapping[str, list[dict[str, Any]]]) -> str:
    """Print what is accepted now for a program."""
    return dump({"checks": [{"check": check, "trace_cost": records[check]} for check in found]})


def notes(found: History) -> tuple[str, ...]:
    """Say what of the past is not known here."""
    shallow = ("the clone is shallow: older values are not here; git fetch --unshallow",) * found.shallow
    noun = "version does" if found.unreadable == 1 else "versions do"
    return (*shallow, *(f"{found.unreadable} {noun} not parse, and is left out",) * bool(found.unreadable))


def _crept(one: Crept) -> str:
    first = one.steps[0].section.calls
    rows = []
    for step, before in zip(one.steps, (None, *one.steps), strict=False):
        calls = step.section.calls
        change = "" if before is None else _change(before.section.calls, calls)
        since = "" if before is None else _change(first, calls)
        rows.append((step.date or UNCOMMITTED, step.commit[:HASH], f"{calls:,}", change, since, _aside(step.section)))
    heads = ("date", "commit", "calls", "change", "since first", "")
    body = "".join(f"  {line}\n" for line in _aligned([heads, *rows], right=(2, 3, 4)).splitlines())
    return f"{quoted(one.check)} under {one.environment}\n{body}"


def _aside(section: Section) -> str:
    power = exponent(section)
    said = [f"{section.propagations} uncached propagations"] if section.propagations else []
    return ", ".join([*said, *([f"n^{power:.2f}"] if power is not None else [])])


def _change(was: int, now: int) -> str:
    return f"{100 * (now - was) / was:+.1f} %" if was else ""


def _record(one: Crept) -> dict[str, Any]:
    first = one.steps[0].section.calls
    return {"check": one.check, "environment": one.environment, "steps": list(_steps(one.steps, first))}


def _steps(steps: Sequence[Step], first: int) -> Iterator[dict[str, Any]]:
    for step, before in zip(steps, (None, *steps), strict=False):
        calls = step.section.calls
        yield {
            "commit": step.commit or None,
            "date": step.date or None,
            "calls": calls,
            "change": None if before is None else calls - before.section.calls,
            "since_first": calls - first,
            "propagations": step.section.propagations,
            "exponent": exponent(step.section),
        }


def _aligned(rows: Sequence[tuple[str, ...]], right: tuple[int, ...]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = (
        "  ".join(
            f"{cell:>{width}}" if place in right else f"{cell:<{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)

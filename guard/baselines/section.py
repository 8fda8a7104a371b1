"""The accepted trace cost of a check under one environment, and its text. Pure."""

from __future__ import annotations

import json
from typing import NamedTuple


class Section(NamedTuple):
    """One section of a cost file."""

    calls: int
    """Call events of one capture."""
    tolerance: float
    """Share of ``calls`` by which a later count may be higher, as it was in force when this was accepted."""
    functions: tuple[tuple[str, int], ...] = ()
    """Events of the functions that have most, sorted by name."""
    propagations: int | None = None
    """Sharding propagations that no cache answered."""
    growth: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Three sizes, and the calls of each."""
    instructions: int | None = None


def print_section(section: Section) -> str:
    """Print it, one key a line."""
    functions = ",\n".join(f"    {quote(name)}: {count}" for name, count in sorted(section.functions))
    rows = {"calls": str(section.calls), "functions": f"{{\n{functions}\n   }}" if functions else "{}"}
    if section.growth is not None:
        sizes, calls = (json.dumps(list(numbers)) for numbers in section.growth)
        rows["growth"] = f'{{"calls": {calls}, "sizes": {sizes}}}'
    for name in ("instructions", "propagations"):
        if getattr(section, name) is not None:
            rows[name] = str(getattr(section, name))
    rows["tolerance"] = json.dumps(section.tolerance)
    body = ",\n".join(f'   "{name}": {row}' for name, row in rows.items())
    return f"{{\n{body}\n  }}"


def quote(text: str) -> str:
    """Print a text as it stands in the file."""
    return json.dumps(text, ensure_ascii=False)

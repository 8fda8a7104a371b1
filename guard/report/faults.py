"""What ``guard verify`` prints: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.baselines.audit.fault import Fault

# More of one kind is one mistake, made often
MOST = 20


def render(faults: Sequence[Fault], notes: Sequence[str], baselines: int, *, most: int = MOST) -> str:
    """Return a line a fault, as editors and CI read it, each with its command; the last line counts."""
    shown = "".join(f"{one.path}:{one.line}: {one.problem}\n  {one.fix}\n" for one in faults[:most])
    more = f"and {len(faults) - most} more: guard verify --format json\n" if len(faults) > most else ""
    said = "".join(f"note: {note}\n" for note in notes)
    return f"{shown}{more}{said}{_counted(baselines, 'baseline')} verified, {_counted(len(faults), 'fault')}\n"


def as_record(faults: Sequence[Fault], notes: Sequence[str], baselines: int) -> dict[str, Any]:
    """Return plain data for JSON."""
    return {"baselines": baselines, "faults": [one._asdict() for one in faults], "notes": list(notes)}


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"

"""What a run says of trace costs that could not be compared: once for all checks. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.findings import Outcome


def trace_notes(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the notes of a run."""
    return tuple(_notes([one.counted.state for one in outcomes if one.counted is not None and one.pending is None]))


def _notes(states: list[str]) -> Iterator[str]:
    elsewhere, new, lost = (states.count(state) for state in ("elsewhere", "new", "lost"))
    if elsewhere:
        yield (
            f"{_costs(elsewhere)} accepted in another environment, and not comparable here; "
            "to record this one beside it: guard update"
        )
    if new:
        yield f"{_costs(new)} not accepted yet; to record: guard update"
    if lost:
        yield f"{_costs(lost)} accepted, and could not be counted; to see why: guard check -v"


def _costs(number: int) -> str:
    return f"the trace cost of {number} check was" if number == 1 else f"the trace costs of {number} checks were"

"""What baselines compared with themselves showed, as text. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.cost.aa import AA, Measured

HEADS = ("measure", "compared", "false alarms", "noise", "tolerance", "smallest effect")


def text(found: AA) -> str:
    """Print a table, what could not be judged, and where it was measured."""
    cells = [HEADS, *(_row(one) for one in found.measures)]
    widths = [max(len(cell[column]) for cell in cells) for column in range(len(HEADS))]
    table = ["  ".join(f"{part:<{width}}" for part, width in zip(cell, widths, strict=True)).rstrip() for cell in cells]
    notes = [f"{one.measure}: {one.left_out} more were report-only" for one in found.measures if one.left_out]
    notes += [line for one in found.measures if (line := _noisy(one)) is not None]
    return "\n".join([*table, *notes, f"{found.runs} runs; {found.key}"]) + "\n"


def _row(one: Measured) -> tuple[str, ...]:
    if not one.compared:
        return one.measure, "0", "-", "-", _percent(one.tolerance), "-"
    return (
        one.measure,
        f"{one.compared:,}",
        f"{one.alarms:,} ({100 * one.rate:.1f} %)",
        _percent(one.noise) if one.noise else "none",
        _percent(one.tolerance) if one.tolerance else "exact",
        _percent(one.smallest) + (f" ({one.unit})" if one.unit and not one.noise else ""),
    )


def _noisy(one: Measured) -> str | None:
    """Say that a tolerance nobody has chosen is too tight here, too."""
    if not one.compared or one.noise <= one.tolerance or not one.tolerance:
        return None
    return f"{one.measure}: noise of {_percent(one.noise)} is beyond the tolerance of {_percent(one.tolerance)}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"  # noqa: PLR2004 - two digits

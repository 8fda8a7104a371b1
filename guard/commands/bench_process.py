"""Has a pair measured in a fresh process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.commands.child import EndedError, ask, boot
from guard.cost.paired import Paired, from_json

if TYPE_CHECKING:
    from pathlib import Path

_BOOT = boot("guard.commands.bench_child")


def measure(
    baseline: bytes, current: bytes, quads: int, timeout: float, constants: Path | None = None
) -> tuple[Paired, ...] | str:
    """Run a pair in a fresh process; text is why there is no result.

    Args:
        baseline: the file, which has been parsed.
        current: what waits, which has been parsed.
        quads: ABBA quads a graph.
        timeout: seconds, 0 for no limit.
        constants: folder of the bytes of current's; None where none were kept.
    """
    given = {
        "baseline": baseline.decode("utf-8-sig"),
        "current": current.decode("utf-8-sig"),
        "quads": quads,
        "constants": "." if constants is None else str(constants),  # the folder that it runs in has none
    }
    try:
        # the same hash seed: the order of sets is none of the difference between two processes
        found = ask(_BOOT, given, {"PYTHONHASHSEED": "0"}, timeout)
    except EndedError as error:
        return f"the process that ran it {error}"
    return tuple(from_json(record) for record in found)

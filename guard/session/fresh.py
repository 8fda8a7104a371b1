"""Which tests of a worker need not run: the controller says so in the run's folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE = "fresh.json"
"""In a run's folder, of a run that is remembered: the tests that need not run."""


def still_fresh(run: Path | None) -> frozenset[str]:
    """Return the tests that need not run, by short id, as the controller says."""
    try:
        return frozenset(json.loads((run / FILE).read_text(encoding="ascii"))) if run is not None else frozenset()
    except FileNotFoundError:
        return frozenset()

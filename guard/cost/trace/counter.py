"""Count one run with what this Python offers, the cycle collector paused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from guard.cost.trace import monitoring_hook, profile_hook
from guard.ir.collector import without_collection

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.cost.trace.tally import Tally

MONITORING = sys.version_info >= (3, 12)  # setprofile slows every frame there, and sees its own tool's events


def count(run: Callable[[], object]) -> Tally | None:
    """Call ``run`` and count its call events; None where something else took the hook away."""
    with without_collection():  # a collection runs finalizers, at a moment that depends on what ran before
        return monitoring_hook.count(run) if MONITORING else profile_hook.count(run)

"""Instructions of one capture, where a hardware counter works: each is probed before it is believed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import torch

from guard.cost.pmu import has_pmu

if TYPE_CHECKING:
    from collections.abc import Callable

NONE = 2**64 - 1
"""What torch's counter gives without a PMU."""
_WORK = 20_000


class Counter(Protocol):
    """``torch._C._instruction_counter``."""

    def start(self) -> int:
        """Return a handle, negative where there is none."""

    def end(self, handle: int, /) -> int:
        """Return the instructions since."""


def measured(run: Callable[[], object], counter: Counter) -> int | None:
    """Run once; None where the counter gave nothing."""
    handle = counter.start()
    if handle < 0:
        return None
    try:
        run()
    finally:
        count = counter.end(handle)
    return count if 0 < count < NONE else None


def works(counter: Counter) -> bool:
    """Tell whether ten times the work counts as about ten times as much: some virtual machines count a constant."""
    little = measured(lambda: sum(range(_WORK)), counter)
    much = measured(lambda: sum(range(10 * _WORK)), counter)
    return little is not None and much is not None and 4 * little < much < 25 * little


@lru_cache(maxsize=1)
def available() -> Counter | None:
    """Return this machine's counter, None where none works.

    Torch's writes a line on standard error where the kernel knows no PMU: it is not asked there.
    """
    counter: Counter | None = getattr(torch._C, "_instruction_counter", None)
    if counter is None or not has_pmu():
        return None
    return counter if works(counter) else None

"""Python's cycle collector, paused while data without cycles is made. Knows no graph."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_collection(*, ages: bool = False) -> Iterator[None]:
    """Pause the collector, which else takes a third of the time: what is made here has no cycles.

    With ``ages``, what was made is put among the old: all of it is alive, and the next young collection would visit
    each object in vain. freeze and unfreeze splice lists and look at nothing; they are left alone where somebody else
    has frozen objects.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if ages and gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()

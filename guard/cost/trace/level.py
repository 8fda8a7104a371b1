"""Bring a process to the state that the first use of Dynamo leaves it in: a count must not tell who was first."""

from __future__ import annotations

from functools import lru_cache

import torch

from guard.tracers.state import modes_off


@lru_cache(maxsize=1)
def level() -> None:
    """Compile nothing, once a process (40 ms).

    From then on each nn.Module is tagged when it is made, and some functions are wrapped: a trace of make_fx had 0.07 %
    more calls where another check had compiled something before it.
    """
    try:
        with modes_off():
            torch.compile(lambda: None, backend="eager")()
    except Exception:  # noqa: BLE001 - a Python that Dynamo does not support yet: nothing else can compile there either
        return

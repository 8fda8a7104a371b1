"""How torch runs while graphs are measured: one thread, no modes, and its warnings are not the user's."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING

import torch

from guard.tracers.state import modes_off, preserved

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """While open, one thread computes: two graphs that share cores with each other's pool measure the pool."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Have graphs run as in a process of their own, whatever a test has set; it finds all of that again."""
    with preserved(alone, (), {}), modes_off(), quiet(), contextlib.ExitStack() as stack:
        for device in ("cpu", *(("cuda",) if torch.cuda.is_available() else ())):
            stack.enter_context(torch.autocast(device, enabled=False))
        yield

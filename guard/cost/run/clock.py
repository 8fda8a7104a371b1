"""Clocks: seconds that one call takes, on the device that it runs on."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    Clock = Callable[[Callable[[], Any]], float]


def clock_of(device: str) -> Clock:
    """The clock of a graph's device, by what works here: CUDA's events count what the device did, not its queue."""
    return cuda_seconds if device.startswith("cuda") and torch.cuda.is_available() else seconds


def seconds(call: Callable[[], Any]) -> float:
    """Time a call by the process's own clock."""
    started = perf_counter()
    call()
    return perf_counter() - started


def cuda_seconds(call: Callable[[], Any]) -> float:
    """Time a call by CUDA's events."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    first.record()
    call()
    last.record()
    torch.cuda.synchronize()
    return float(first.elapsed_time(last)) / 1e3

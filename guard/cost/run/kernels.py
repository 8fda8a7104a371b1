"""Kernels that one call launches on a CUDA device: exact where time is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, supported_activities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# what the profiler has on a device's timeline beside kernels: copies, fills, and the ranges of its own steps
_OTHERS = ("Memcpy", "Memset", "ProfilerStep")


def kernels_of(call: Callable[[], Any], device: str) -> int | None:
    """Count the kernels of one call; None on another device, and where the profiler does not see this one's.

    Args:
        call: has run before, so that nothing is loaded meanwhile.
        device: the graph's.
    """
    if not device.startswith("cuda") or ProfilerActivity.CUDA not in supported_activities():
        return None
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    # none at all: CUPTI is there but not allowed (ERR_NVGPUCTRPERM on shared machines)
    return counted(seen.events()) or None


def counted(events: Iterable[Any]) -> int:
    """Count the kernels among a profile's events."""
    return sum(
        event.device_type == DeviceType.CUDA
        and not event.name.startswith(_OTHERS)
        and not getattr(event, "is_user_annotation", False)
        for event in events
    )

"""Sharding propagations that DTensor's cache did not answer, from a trace's call events."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

    from guard.cost.trace.tally import Tally


def propagations(tally: Tally) -> int | None:
    """Count them; None where this torch keeps its cache another way, 0 where DTensor was never loaded."""
    tensor = sys.modules.get("torch.distributed.tensor")
    if tensor is None:
        return 0
    code = uncached(tensor)
    return None if code is None else tally.entries.get(id(code), 0)


def uncached(tensor: Any) -> CodeType | None:
    """Return the code of what the cache wraps, whatever its name is.

    Python's cache wraps it (torch 2.9 - 2.14), and the C++ one of newer torches calls it by itself after a miss.
    """
    try:
        cached = tensor.DTensor._op_dispatcher.sharding_propagator.propagate_op_sharding
        code = inspect.unwrap(cached.cache.__wrapped__).__code__
    except AttributeError:
        return None
    return code if inspect.iscode(code) else None

"""What a tracer hands to the capture: fx graphs with what it knows of them, lowered while their groups live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from guard.ir.graph import Event
    from guard.ir.lower.context import Context


@dataclass(frozen=True)
class Traced:
    """One capture before lowering."""

    graphs: tuple[tuple[torch.fx.GraphModule, Context], ...]
    events: tuple[Event, ...] = ()
    regions: tuple[Any, ...] = ()
    """Of ``Compile``: what its backend was called with, and what it gave (guard.tracers.compile.Region)."""
    dropped: tuple[tuple[torch.fx.GraphModule, Context], ...] = ()
    """Of ``AotJoint``: the graph before its dead nodes were dropped, where there were some."""

"""AOTAutograd's graph as its make_fx made it, before dead nodes are dropped: what was dropped is an alarm."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from guard.tracers.undropped import copied, has_dead

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

_MODULE, _NAME = "torch._functorch._aot_autograd.graph_capture", "_create_graph"
"""Where torch (2.9 to 2.14) runs its inner make_fx; the callers eliminate dead code."""


@contextlib.contextmanager
def seen_before() -> Iterator[list[torch.fx.GraphModule]]:
    """While open, keep a copy of each graph that is about to lose a node; a torch without that place shows none."""
    kept: list[torch.fx.GraphModule] = []
    found = sys.modules.get(_MODULE)
    original = getattr(found, _NAME, None)
    if original is None:
        yield kept
        return

    def create_graph(*args: Any, **kwargs: Any) -> Any:
        module = original(*args, **kwargs)
        if has_dead(module.graph):
            kept.append(copied(module))
        return module

    setattr(found, _NAME, create_graph)
    try:
        yield kept
    finally:
        setattr(found, _NAME, original)

"""AOTAutograd's graph as its make_fx made it, before dead nodes are dropped: what was dropped is an alarm."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def has_dead(graph: torch.fx.Graph) -> bool:
    """Tell whether an elimination would drop a node, as torch.fx.Graph.eliminate_dead_code judges it."""
    return any(
        not node.users and node.op not in ("placeholder", "output") and not node.is_impure() for node in graph.nodes
    )


def copied(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Copy the nodes; attributes and fake values are shared."""
    made = torch.fx.Graph()
    values: dict[torch.fx.Node, torch.fx.Node] = {}
    returned = made.graph_copy(module.graph, values)
    made.output(returned)
    return torch.fx.GraphModule(module, made)

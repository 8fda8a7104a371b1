"""A copy of a graph that is about to lose its dead nodes. A counted trace leaves out all that runs below this file."""

from __future__ import annotations

import torch


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

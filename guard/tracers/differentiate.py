"""Differentiate a program's outputs, and nothing that the user computed before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def sources_of(arguments: Any) -> list[GradientEdge]:
    """Where the arguments come from that are no leaves: taken before the program runs, for it may write them."""
    tensors = (leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor))
    return [get_gradient_edge(tensor) for tensor in tensors if tensor.grad_fn is not None]


def differentiate(roots: Sequence[torch.Tensor], edges: Sequence[GradientEdge]) -> None:
    """Run the backward of ``roots`` down to ``edges`` and the leaves.

    The graph above an edge is the user's: to run through it frees it, and a second run of the program would fail.
    """
    ones = [torch.ones_like(root) for root in roots]
    if not edges:
        torch.autograd.backward(roots, ones)
        return
    leaves = list(_leaf_edges(roots, {edge.node for edge in edges}))
    torch.autograd.grad(roots, [*edges, *leaves], ones, allow_unused=True)


def _leaf_edges(roots: Sequence[torch.Tensor], stop: set[Any]) -> Iterator[GradientEdge]:
    """Edges into leaves that are reached without crossing ``stop``."""
    waiting, seen = [root.grad_fn for root in roots], set(stop)
    while waiting:
        node: Any = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            yield GradientEdge(node, 0)
        waiting += [following for following, _ in node.next_functions]

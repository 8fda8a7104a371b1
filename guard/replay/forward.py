"""Run a callable - the program, a compiled one, a graph - forward and, where it is asked for, backward."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.autograd.graph import get_gradient_edge

from guard.replay.ambience import ambience
from guard.replay.noted import Noted, note
from guard.replay.observed import Observed, aliases_of, outputs_of, state_now
from guard.replay.tangents import drawn
from guard.tracers.state.modes import modes_off

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.autograd.graph import GradientEdge

    from guard.replay.named import Named


class Request(NamedTuple):
    """What is to be run."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    named: Callable[[], Sequence[Named]]
    """Inputs, parameters and buffers as they are when it is called: a program may replace a buffer."""
    order: int
    """Of the gradients that are taken."""
    tangents: Mapping[int, torch.Tensor] | None = None
    """Of each output that is differentiated; None: all that require grad, each by a tangent drawn for it."""


def run(call: Callable[..., Any], request: Request) -> Observed:
    """Call, differentiate, and note everything. To be called in isolation; what the callable raises goes through."""
    before = list(request.named())
    edges = _edges(before) if request.order else {}
    result = call(*request.args, **request.kwargs)
    settings = ambience()
    leaves, tree = outputs_of(result)
    with modes_off():
        seen = Observed(
            outputs=tuple(note(leaf) for leaf in leaves),
            tree=tree,
            aliases=aliases_of(leaves, before),
            forward=state_now(request.named()),
            settings=settings,
        )
    roots = _roots(leaves, request)
    if not request.order or not edges or not roots:
        return seen
    gradients = _gradients(leaves, roots, edges, request.order)
    with modes_off():
        return replace(
            seen,
            gradients=gradients,
            backward=state_now(request.named()),
            outputs_after=tuple(note(leaf) for leaf in leaves),
        )


def _edges(named: Sequence[Named]) -> dict[str, GradientEdge]:
    """Where gradients end: taken before the run, which may write an input that is no leaf."""
    return {name: get_gradient_edge(tensor) for name, tensor in named if tensor.requires_grad}


def _roots(leaves: Sequence[Any], request: Request) -> dict[int, torch.Tensor]:
    """The tangent of each output that is differentiated."""
    able = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if request.tangents is not None:
        return {index: tangent for index, tangent in request.tangents.items() if index in able}
    with modes_off():
        return {index: drawn(leaves[index], index) for index in able}


def _gradients(
    leaves: Sequence[Any], roots: Mapping[int, torch.Tensor], edges: Mapping[str, GradientEdge], order: int
) -> tuple[dict[str, Noted | None], ...]:
    found = []
    outputs, tangents = [leaves[index] for index in roots], list(roots.values())
    with torch.enable_grad():
        for level in range(order):
            taken = torch.autograd.grad(
                outputs, list(edges.values()), tangents, allow_unused=True, create_graph=level + 1 < order
            )
            with modes_off():
                found.append({n: None if g is None else note(g) for n, g in zip(edges, taken, strict=True)})
            outputs = [gradient for gradient in taken if gradient is not None and gradient.requires_grad]
            if not outputs:
                break
            with modes_off():
                tangents = [drawn(gradient, index + 1000 * (level + 1)) for index, gradient in enumerate(outputs)]
    return tuple(found)

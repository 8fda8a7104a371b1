"""One of the two graphs of a pair, rebuilt and ready to run on given inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from guard.cost.run.looked import Looked
from guard.ir.canonical import equal
from guard.ir.rebuild.arguments import device_of
from guard.ir.rebuild.build import rebuild
from guard.ir.rebuild.read_back import read_back
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.rebuild.targets import NAMESPACES
from guard.replay.inputs import draw
from guard.replay.sizes import sizes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.ir.expr import Expr
    from guard.ir.graph import Graph, Program
    from guard.ir.rebuild.build import Source


class Side:
    """A rebuilt graph with its sizes."""

    def __init__(self, program: Program, graph: Graph, known: Source, where: tuple[Expr, ...] = ()) -> None:
        self.graph = graph
        _refuse_device(graph.device)
        # constraints of both graphs, so that both have the same sizes
        self.sizes = sizes_of(graph, where or graph.where)
        self.module = rebuild(program, graph, replace(known, sizes=self.sizes))
        self._refuse_another(program)

    def _refuse_another(self, program: Program) -> None:
        """Refuse a text that says other effects or results than its operators have: it was not captured."""
        own = replace(program, graphs=(self.graph,))
        if not equal(own, read_back(own, {self.graph.name: self.module})):
            raise RefusedError("rebuilt, the graph reads differently than its text")

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers."""
        return any(effect.kind == "rng" for node in self.graph.nodes for effect in node.effects)

    def draw(self) -> list[Any]:
        """Draw this graph's inputs."""
        return draw(self.graph, self.sizes)

    def look(self, inputs: Sequence[Any]) -> Any:
        """Run once, slowly.

        Raises:
            RefusedError: an operator gives another type than the text says.
        """
        with torch.no_grad():
            return Looked(self.module).run(*inputs)

    def run(self, inputs: Sequence[Any]) -> Any:
        """Run once; gradients are the graph's own business."""
        with torch.no_grad():
            return self.module(*inputs)


def _refuse_device(name: str) -> None:
    """Say so before anything is rebuilt: each operator has its own words for a device that is not there."""
    try:
        torch.empty(0, device=device_of(name))
    except (RuntimeError, AssertionError, NotImplementedError):  # torch without CUDA asserts
        raise RefusedError(f'no device "{name}" here') from None


def namespaces_of(current: Program) -> frozenset[str]:
    """Namespaces that a baseline may use: torch's, and those of current's own operators."""
    graphs = (*current.graphs, *current.bodies)
    return NAMESPACES | {
        node.target.partition(".")[0] for graph in graphs for node in graph.nodes if "." in node.target
    }

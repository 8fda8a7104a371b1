"""Peak live bytes of one graph in program order. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.cost.amount import Largest
from guard.cost.node import used
from guard.cost.operators import rule
from guard.cost.sizes import Sizes
from guard.ir.uses import refs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.cost.amount import Amount
    from guard.cost.node import NodeCost
    from guard.ir.graph import Graph, Node


class Storages:
    """Which storage each value lies in, called by the first value in it."""

    def __init__(self, graph: Graph, costs: Sequence[NodeCost]) -> None:
        self.of: dict[str, str] = {}
        for value in graph.inputs:
            self.of[value.name] = self.of.get(value.alias or value.name, value.name)
        self.inputs = set(self.of.values())
        """Storages that the caller holds."""
        for node, cost in zip(graph.nodes, costs, strict=True):
            shared = self._shared(node, cost)
            for name, _type in node.results:
                if name is not None:
                    self.of[name] = shared or name

    def _shared(self, node: Node, cost: NodeCost) -> str | None:
        """Give the storage that all results of a node lie in; None where they have their own."""
        if cost.fresh != 0:
            return None
        for kind, on in node.effects:
            if kind == "alias":
                return self.of.get(str(on[0]))
        if rule(node.target).same_storage:
            return next((self.of[name] for name in used(node.args, node.kwargs) if name in self.of), None)
        return None


def held(graph: Graph) -> Amount:
    """Return the bytes of a graph's inputs, which its caller holds throughout."""
    sizes = Sizes()
    return sum((sizes.of(value.type) or 0 for value in graph.inputs if value.alias is None), 0)


def peak(graph: Graph, storages: Storages, costs: Sequence[NodeCost], within: dict[int, Amount]) -> Amount:
    """Return the most bytes that live at once besides the inputs: a result from its node to its storage's last use.

    Args:
        graph: The graph.
        storages: Of its values.
        costs: Of its nodes.
        within: Node -> what its bodies need besides what they are given.
    """
    kept = {storages.of[name] for output in graph.outputs for name in refs(output.value) if name in storages.of}
    ends = _ends(graph, storages)
    sizes, most = Sizes(), Largest()
    live: Amount = 0
    born: dict[str, Amount] = {}
    for place, (node, cost) in enumerate(zip(graph.nodes, costs, strict=True)):
        if place in within:
            most.add(live + within[place])
        if cost.fresh != 0:
            live = live + cost.fresh
            most.add(live)
            live = live - _born(node, sizes, born)
        for storage in ends.get(place, ()):
            if storage in born and storage not in kept:
                live = live - born[storage]
    return most.amount()


def _ends(graph: Graph, storages: Storages) -> dict[int, list[str]]:
    """Give, by node, the storages that nothing uses behind it."""
    of = storages.of
    last: dict[str, int] = {}
    for place, node in enumerate(graph.nodes):
        for name, _type in node.results:
            if name is not None:
                last[of[name]] = place
        for name in used(node.args, node.kwargs):
            if name in of:
                last[of[name]] = place
    found: dict[int, list[str]] = {}
    for storage, place in last.items():
        found.setdefault(place, []).append(storage)
    return found


def _born(node: Node, sizes: Sizes, born: dict[str, Amount]) -> Amount:
    """Enter a node's results; return the bytes of those that have no name and end at once."""
    unused: Amount = 0
    for name, type_ in node.results:
        size = sizes.of(type_) or 0
        if name is None:
            unused = unused + size
        else:
            born[name] = size
    return unused

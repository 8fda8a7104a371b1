"""What one pass over a graph finds out for all alarms: what is alive, and the few nodes that some alarm is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.graph import Mapping, Ref, Slice
from guard.ir.uses import refs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.ir.graph import Graph, Node

DETACH = "aten.detach.default"
COPIES = frozenset(("aten.clone.default", "aten.stack.default", "aten.cat.default"))
MOVES = COPIES | {DETACH}
"""What ordinary programs leave unused: it computes nothing."""
_CONTAINERS = frozenset((tuple, Slice, Mapping))


class Reading:
    """One graph, read backwards once; linear in its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.live: set[str] = set()
        """Inputs that an output or an effect depends on; what a node makes is taken out again: the set stays small."""
        self.lost: set[str] = set()
        """Values that dead nodes make."""
        self.dead: list[int] = []
        """Pure nodes that nothing alive depends on, from the last to the first."""
        self.constants: list[int] = []
        self.draws: list[int] = []
        """Nodes that draw random numbers."""
        self.detaches: list[int] = []
        self.ranks: set[int] = set()
        """Sizes of the groups of collectives."""
        for output in graph.outputs:
            self.live.update(refs(output.value))
        for position in range(len(graph.nodes) - 1, -1, -1):
            self._read(position, graph.nodes[position])

    def _read(self, position: int, node: Node) -> None:
        live = self.live
        alive = False
        for name, _type in node.results:
            if name in live:
                alive = True
                live.discard(name)
        for kind, on in node.effects:
            if kind != "alias":
                alive = True
                if kind == "rng":
                    self.draws.append(position)
                elif kind == "comm":
                    self.ranks.add(len(on))
        target = node.target
        if target == "constant":
            self.constants.append(position)
        elif target == DETACH:
            self.detaches.append(position)
        if alive:
            self._use(node, live)
        else:
            self.dead.append(position)
            self.lost.update([name for name, _type in node.results if name is not None])

    @staticmethod
    def _use(node: Node, into: set[str]) -> None:
        for arg in node.args:
            if type(arg) is Ref:
                into.add(arg[0])
            elif type(arg) in _CONTAINERS:
                into.update(refs(arg))
        for _key, arg in node.kwargs:
            if type(arg) is Ref:
                into.add(arg[0])
            elif type(arg) in _CONTAINERS:
                into.update(refs(arg))


def uses(node: Node) -> Iterator[str]:
    """Yield the names of the values that a node uses."""
    for arg in node.args:
        yield from refs(arg)
    for _key, arg in node.kwargs:
        yield from refs(arg)


def reaches(graph: Graph, sources: set[str]) -> set[str]:
    """Give the values that depend on these, themselves among them; a write passes it to what it writes."""
    found = set(sources)
    for node in graph.nodes:
        if any(name in found for name in uses(node)):
            found.update(name for name, _type in node.results if name is not None)
            found.update(str(name) for kind, on in node.effects if kind == "write" for name in on)
    return found


def needs(graph: Graph, targets: set[str]) -> set[str]:
    """Give the values that these depend on, themselves among them; what is written into one is needed, too."""
    found = set(targets)
    for node in reversed(graph.nodes):
        made = any(name in found for name, _type in node.results if name is not None)
        if made or any(name in found for kind, on in node.effects if kind == "write" for name in on):
            found.update(uses(node))
    return found

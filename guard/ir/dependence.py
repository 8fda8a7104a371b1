"""What each node of a graph depends on: values, versions of the storage that it reads, earlier draws and collectives.

Only conflicting effects keep their order (docs/grammar.md, "Effects"). A view counts as a read of what it views:
operators such as contiguous may copy instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.ir.alias_sets import AliasSets
from guard.ir.spelling import Speller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.ir.graph import Graph, Node

NOTHING: tuple[int, ...] = ()
NO_WRITER = -1


class Use(NamedTuple):
    """One node or output, with everything that decides its meaning but its results' types."""

    text: str
    """Spelled, with a ``%`` for each value."""
    values: tuple[int, ...]
    """In order; results number from 0 in program order, inputs are -1, -2, ..."""
    versions: tuple[int, ...] = NOTHING
    """Last writing node, or NO_WRITER, of each of these values whose storage is written somewhere."""
    chains: tuple[int, ...] = NOTHING
    """The draw and the collective before this one."""
    epoch: int = 0
    """Barriers before it: nothing moves over one."""


class Dependences:
    """Nodes' and outputs' uses in program order, and the nodes that count without being used."""

    def __init__(self, graph: Graph, digests: Mapping[str, str]) -> None:
        self.uses: list[Use] = []
        self.owners: list[int] = []
        """Result -> node."""
        self.firsts: list[int] = []
        """Node -> its first result."""
        self.symbolic: set[int] = set()
        """Nodes whose arguments have symbols."""
        self.barriers: list[int] = []
        self.chains: dict[str, int] = {}
        """Generator or collectives -> the last node so far."""
        self._writers: dict[str, int] = {}
        self._sets = AliasSets(graph).written
        self._ids = {value.name: -1 - position for position, value in enumerate(graph.inputs)}
        speller = Speller(digests)
        for position, node in enumerate(graph.nodes):
            self._add(position, node, speller)
        self.outputs = [self._spell(speller, speller.arg(output.value)) for output in graph.outputs]
        self.last_writers = self._last_writers(graph)
        """Of each input's storage, in the order of inputs, once."""

    def _add(self, position: int, node: Node, speller: Speller) -> None:
        speller.symbolic = False
        use = self._spell(speller, speller.node(node))
        if self.barriers:
            use = use._replace(epoch=len(self.barriers))
        self.uses.append(self._order(position, node, use) if node.effects else use)
        if speller.symbolic:
            self.symbolic.add(position)
        self.firsts.append(len(self.owners))
        for name, _type in node.results:
            if name is not None:
                self._ids[name] = len(self.owners)
            self.owners.append(position)

    def _spell(self, speller: Speller, text: str) -> Use:
        names, speller.values = speller.values, []
        ids = self._ids
        values = tuple([ids[name] for name in names])
        if not self._sets:
            return Use(text, values)
        sets, writers = self._sets, self._writers
        return Use(text, values, tuple([writers.get(sets[name], NO_WRITER) for name in names if name in sets]))

    def _order(self, position: int, node: Node, use: Use) -> Use:
        """Enter a node's effects: what follows is ordered behind them."""
        chains = []
        for kind, on in node.effects:
            if kind == "write":
                self._writers.update({self._sets[str(name)]: position for name in on})
            elif kind in ("mode", "barrier"):
                self.barriers.append(position)
            elif kind in ("rng", "comm"):
                for link in [f"rng {device}" for device in on or ("",)] if kind == "rng" else ["comm"]:
                    chains.append(self.chains.get(link, NO_WRITER))
                    self.chains[link] = position
        return use._replace(chains=tuple(chains))

    def _last_writers(self, graph: Graph) -> list[int]:
        sets = dict.fromkeys(self._sets[value.name] for value in graph.inputs if value.name in self._sets)
        return [self._writers.get(name, NO_WRITER) for name in sets]

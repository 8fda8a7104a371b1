"""One graph of the baseline beside its partner in current: aligned, with everything that differs by cause. Pure."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from guard.drift.align import Alignment
from guard.drift.causes import Gathering
from guard.drift.flow import Flow, Words
from guard.drift.kinds import Judge
from guard.drift.partners import pair_inputs, pair_symbols, with_names
from guard.drift.signature import changed_types, items
from guard.ir.uses import body_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.ir.graph import Graph, Node


class Comparison:
    """Two graphs, and what differs between them."""

    def __init__(self, a: Graph, b: Graph) -> None:
        self.name = b.name
        inputs = pair_inputs(a, b)
        self.symbols = pair_symbols(a, b, inputs)
        b = with_names(b, self.symbols.names)
        words = Words()
        self.flows = Flow(a, words), Flow(b, words)
        self._inputs = inputs

    def certainly_differs(self) -> bool:
        """Tell whether some call is in one graph only: a look at words, for canonical equality takes longer.

        Words with symbols do not count: those are named by first use, and equality renames them.
        """
        a, b = (Counter(flow.words) for flow in self.flows)
        for counts, flow in zip((a, b), self.flows, strict=True):
            counts.subtract(flow.words[node] for node in flow.symbolic)
        return +a != +b

    def align(self) -> None:
        """Align, and gather what differs."""
        a, b = self.flows
        self.alignment = Alignment(a, b, self._inputs)
        gathering = Gathering(self.alignment, changed_types(a.graph, b.graph, self._inputs))
        self.items = items(self.alignment, gathering, self.symbols)
        self.causes = gathering.causes()
        self.behind_inputs = gathering.behind_inputs()
        self.judge = Judge(self.alignment, self.symbols)

    def bodies(self) -> Iterator[tuple[str, str]]:
        """Yield the bodies that paired calls use in one place."""
        nodes_a, nodes_b = self.alignment.a.graph.nodes, self.alignment.b.graph.nodes
        for a, b in self.alignment.pairs():
            if nodes_a[a].target == nodes_b[b].target:
                yield from zip(_bodies(nodes_a[a]), _bodies(nodes_b[b]))  # noqa: B905 - a branch may be new

    @cached_property
    def backward(self) -> bool:
        """The graph computes gradients."""
        graph = self.flows[1].graph
        return graph.name in ("joint", "backward") or any("backward" in node.tags for node in graph.nodes)


def _bodies(node: Node) -> list[str]:
    return [name for arg in (*node.args, *(value for _key, value in node.kwargs)) for name in body_names(arg)]

"""What the graphs of one file share: bodies of higher-order operators, named once each, and tensors behind digests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.ir.graph import Body
from guard.ir.printer import print_graph

if TYPE_CHECKING:
    from guard.ir.graph import Graph


class Bodies:
    """The bodies of one file."""

    constants: dict[str, Any]
    """Tensor by the text of its digest: the file does not hold their bytes."""

    def __init__(self) -> None:
        self._by_text: dict[str, Graph] = {}
        self._effectful: set[str] = set()
        self.constants = {}

    def add(self, graph: Graph) -> Body:
        """Name a body; one with the same text has the same name."""
        text = print_graph(replace(graph, name="body"))
        if text not in self._by_text:
            name = f"body_{len(self._by_text) + 1}"
            self._by_text[text] = replace(graph, name=name)
            if any(effect.kind != "alias" for node in graph.nodes for effect in node.effects):
                self._effectful.add(name)
        return Body(self._by_text[text].name)

    def effectful(self, name: str) -> bool:
        """Whether a body writes, draws, communicates or changes a mode."""
        return name in self._effectful

    def all(self) -> tuple[Graph, ...]:
        """Every body, by number."""
        return tuple(self._by_text.values())

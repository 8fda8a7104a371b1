"""What ``guard.check`` gives back: read-only views of the captured program, for hand-written counts. Knows no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.ir.graph import CaptureError, Graph, Program


@dataclass(frozen=True, slots=True)
class CapturedGraph:
    """One graph of a capture."""

    graph: Graph

    @property
    def targets(self) -> tuple[str, ...]:
        """Target of each node, in program order."""
        return tuple(node.target for node in self.graph.nodes)

    def count(self, target: str) -> int:
        """Count the nodes with this target; ``aten.add`` counts all of its overloads."""
        return sum(found == target or found.startswith(target + ".") for found in self.targets)


@dataclass(frozen=True, slots=True)
class Capture:
    """Everything that one call captured: named graphs, or an error."""

    program: Program

    @property
    def error(self) -> CaptureError | None:
        """What the capture raised, where it did."""
        return self.program.error

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the graphs, in the order in which the tracer met them."""
        return tuple(graph.name for graph in self.program.graphs)

    def graph(self, name: str) -> CapturedGraph:
        """Return the graph of this name; KeyError lists the names that there are."""
        for graph in self.program.graphs:
            if graph.name == name:
                return CapturedGraph(graph)
        if self.error is not None:
            raise KeyError(f'no graph "{name}": the capture failed, {self.error.kind}: {self.error.line}')
        raise KeyError(f'no graph "{name}"; captured {", ".join(self.names) or "none"}')

"""Which values share storage: union-find over alias effects and inputs' aliases. Knows no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.ir.graph import Graph


class AliasSets:
    """The alias sets that some node writes: values of others need no order."""

    def __init__(self, graph: Graph) -> None:
        self._parents: dict[str, str] = {}
        writes = []
        for value in graph.inputs:
            if value.alias is not None:
                self._join(value.name, value.alias)
        for node in graph.nodes:
            for kind, on in node.effects:
                if kind == "alias":
                    for name in on:
                        self._join_results(node.results, str(name))
                elif kind == "write":
                    writes += [str(name) for name in on]
        written = {self._find(name) for name in writes}
        self.written: Mapping[str, str] = {
            name: self._find(name) for name in {*self._parents, *writes} if self._find(name) in written
        }
        """Value -> its set, which is called by one of its values; other values are in no written set."""

    def _join_results(self, results: tuple[tuple[str | None, object], ...], name: str) -> None:
        """Join all results: the schema may say which one is the view, an effect does not."""
        for result, _type in results:
            if result is not None:
                self._join(result, name)

    def _join(self, one: str, other: str) -> None:
        a, b = self._find(one), self._find(other)
        if a != b:
            self._parents[a] = b
        self._parents.setdefault(b, b)

    def _find(self, name: str) -> str:
        parents = self._parents
        while (parent := parents.get(name, name)) != name:
            parents[name] = name = parents.get(parent, parent)
        return name

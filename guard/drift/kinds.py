"""Say which class a cause belongs to. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from guard.drift.flow import alive
from guard.ir.graph import Digest, Group
from guard.ir.types import DTensorType, ScalarType
from guard.ir.uses import leaves

if TYPE_CHECKING:
    from guard.drift.align import Alignment
    from guard.drift.causes import Cause
    from guard.drift.flow import Flow
    from guard.drift.partners import Symbols
    from guard.ir.graph import Node

COLLECTIVES = ("_c10d_functional", "_c10d_functional_autograd", "c10d", "c10d_functional", "_dtensor")
FACTORIES = frozenset(("empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided"))
LIFTED = frozenset(("constant", "lift_fresh", "lift_fresh_copy"))
DETACHES = frozenset(("detach", "detach_", "alias"))


def short(target: str) -> str:
    """Name an operator without its namespace and overload: ``aten.add.Tensor`` is ``add``."""
    parts = target.split(".")
    return parts[1] if len(parts) == 3 else target  # noqa: PLR2004 - namespace, operator, overload


@dataclass(frozen=True)
class Side:
    """One graph of a pair, and those of its nodes that have no partner."""

    flow: Flow
    partners: list[int]

    @cached_property
    def live(self) -> list[bool]:
        """Nodes that an output or an effect needs."""
        return alive(self.flow)

    @cached_property
    def distributed(self) -> bool:
        """Collectives or DTensors are in the graph."""
        graph = self.flow.graph
        types = [*(value.type for value in graph.inputs), *(output.type for output in graph.outputs)]
        targets = {node.target for node in graph.nodes}
        return any(isinstance(type_, DTensorType) for type_ in types) or any(map(_of_ranks, targets))

    def target(self, node: int) -> str:
        """Give a node's operator, short."""
        return short(self.flow.graph.nodes[node].target)

    @cached_property
    def twins(self) -> set[int]:
        """Give the calls that nodes with a partner make."""
        return {word for word, other in zip(self.flow.words, self.partners, strict=True) if other >= 0}


def collective(node: Node) -> bool:
    """Tell whether a node talks to other ranks, or waits for it."""
    return _of_ranks(node.target) or any(kind == "comm" for kind, _on in node.effects)


def _of_ranks(target: str) -> bool:
    return target.split(".", maxsplit=1)[0] in COLLECTIVES


class Judge:
    """Classes of the causes of one aligned pair of graphs."""

    def __init__(self, alignment: Alignment, symbols: Symbols) -> None:
        self.a = Side(alignment.a, alignment.of_a)
        self.b = Side(alignment.b, alignment.of_b)
        self._al = alignment
        self._sizes = bool(symbols.constant or symbols.free)

    def kind(self, cause: Cause) -> str:
        """Give a cause's class: of several that fit, the one that says most about where it came from."""
        if self.leaks(cause):
            return "proxy-leak"
        if self._specializes(cause):
            return "specialization"
        nodes = self._nodes(cause)
        if any(self._collective(node) for node in nodes):
            return "collective"
        if self._mutates(cause):
            return "mutation"
        modes = any(kind == "mode" for node in nodes for kind, _on in node.effects)
        return self._plain(cause.facts, whole=not cause.added and not cause.removed and not modes)

    def leaks(self, cause: Cause) -> bool:
        """Tell whether these are what a nested trace leaves behind, or what went with it."""
        if cause.changed or bool(cause.added) == bool(cause.removed):
            return False
        nodes = cause.added or cause.removed
        where = self.b if cause.added else self.a
        if any(where.live[node] for node in nodes):
            return _fake_constant(where, nodes) or _detach_chain(where, nodes)
        if _detached_twice(where, nodes):
            return True
        twins = where.twins
        return all(
            where.target(node) in DETACHES | FACTORIES | LIFTED or where.flow.words[node] in twins for node in nodes
        ) and not all(where.target(node) in FACTORIES for node in nodes)

    def _nodes(self, cause: Cause) -> list[Node]:
        """Give the nodes whose calls changed, of both sides."""
        a, b = self._al.a.graph.nodes, self._al.b.graph.nodes
        nodes = [b[node] for node in cause.added] + [a[node] for node in cause.removed]
        for node, facts in cause.changed.items():
            if facts - {"type", "operands", "order"}:
                nodes += [b[node], a[self._al.of_b[node]]]
        return nodes

    def _collective(self, node: Node) -> bool:
        return collective(node) or any(type(leaf) is Group for leaf in leaves(node.args))

    def _mutates(self, cause: Cause) -> bool:
        """Tell whether what is written, or shares storage, is not the same."""
        if any("effects" in facts for facts in cause.changed.values()):
            return True
        flows, called = (self._al.a, self._al.b), [node for node, facts in cause.changed.items() if "call" in facts]
        removed = [*cause.removed, *(self._al.of_b[node] for node in called)]
        was = Counter(self._al.value(value) for node in removed for value in _written(flows[0], node))
        now = Counter(value for node in (*cause.added, *called) for value in _written(flows[1], node))
        return was != now or self._aliases(cause)

    def _aliases(self, cause: Cause) -> bool:
        outputs_a, outputs_b = self._al.a.graph.outputs, self._al.b.graph.outputs
        if len(outputs_a) != len(outputs_b):
            return False
        roles = [(outputs_a[place].role, outputs_b[place].role) for place in cause.outputs]
        return any(one != other and {one, other} & {"alias", "mutated"} for one, other in roles)

    def _specializes(self, cause: Cause) -> bool:
        """Tell whether sizes became numbers, or numbers sizes."""
        a, b = self._al.a.graph.nodes, self._al.b.graph.nodes
        loose = [a[node] for node in cause.removed] + [b[node] for node in cause.added]
        if cause.facts - {"literal", "type", "operands"} or not all(map(_is_size, loose)):
            return False
        return bool(loose) or (self._sizes and bool(cause.facts & {"literal", "type"}))

    def _plain(self, facts: set[str], *, whole: bool) -> str:
        if not whole or "call" in facts:
            return "structure"
        if facts == {"order"}:
            return "order"
        if "type" in facts and not facts & {"operands", "tags"}:
            return "type"
        return "constant" if facts and facts <= {"literal"} else "structure"


def _written(flow: Flow, node: int) -> list[int]:
    """Give the values that a node writes."""
    return [flow.ids[str(name)] for kind, on in flow.graph.nodes[node].effects if kind == "write" for name in on]


def _is_size(node: Node) -> bool:
    return bool(node.results) and all(
        isinstance(type_, ScalarType) and type_.kind.startswith("Sym") for _name, type_ in node.results
    )


def _fake_constant(where: Side, nodes: list[int]) -> bool:
    """Tell whether a FakeTensor of a trace was taken for a constant: its bytes are nowhere."""
    found = [where.flow.graph.nodes[node] for node in nodes if where.target(node) == "constant"]
    return any(leaf == Digest("no-bytes") for node in found for leaf in leaves(node.args))


def _detach_chain(where: Side, nodes: list[int]) -> bool:
    """Tell whether these do nothing but detach what is detached already."""
    return all(where.target(node) in DETACHES for node in nodes) and _detached_twice(where, nodes)


def _detached_twice(where: Side, nodes: list[int]) -> bool:
    """Tell whether some of these detach what is detached already: no program of a user's does."""
    detaches = {node for node in nodes if where.target(node) in DETACHES}
    return any(owner in detaches for node in detaches for owner in where.flow.operands(node))

"""Gather what differs between two aligned graphs by cause: nodes that changed, and what follows from them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from guard.drift.align import NOBODY
from guard.drift.flow import spelled

if TYPE_CHECKING:
    from guard.drift.align import Alignment
    from guard.ir.graph import Node

_NO_FACTS: frozenset[str] = frozenset()


@dataclass
class Cause:
    """Nodes that changed together."""

    added: list[int] = field(default_factory=list)
    """Of current, without a partner."""
    removed: list[int] = field(default_factory=list)
    """Of the baseline, without a partner."""
    changed: dict[int, set[str]] = field(default_factory=dict)
    """Of current, with a partner -> what differs: call, literal, type, tags, effects, operands, order."""
    wake: int = 0
    """Nodes whose types differ because of these."""
    outputs: set[int] = field(default_factory=set)
    """Outputs that are another value, or of another type, because of these."""

    @property
    def facts(self) -> set[str]:
        """All that differs of nodes with a partner."""
        return set().union(*self.changed.values())


class Gathering:
    """Differences of one alignment. A spot is a node: first the baseline's, then current's; an input is below 0."""

    def __init__(self, alignment: Alignment, inputs: set[int]) -> None:
        """Gather.

        Args:
            alignment: Two graphs.
            inputs: Positions of current's inputs whose types differ: nodes behind them follow.
        """
        self._al = alignment
        self._base = len(alignment.of_a)
        self._parents: dict[int, int] = {}
        self._facts: dict[int, set[str]] = {}
        self._dirty: dict[int, int] = {-1 - position: -1 - position for position in inputs}
        self._wake: dict[int, int] = {}
        self._outputs: dict[int, set[int]] = {}
        self._mapped = _mapped(alignment)
        self._removed()
        self._nodes()
        self._orders()

    def output(self, position: int, a: list[int], b: list[int]) -> bool:
        """Enter an output; tell whether what it returns changed by itself: not because of its nodes."""
        al = self._al
        spots = self._culprits(a, b)
        mapped = [self._mapped[value] for value in a]
        dirty = [self._dirty[owner] for owner in map(al.b.owner, b) if owner in self._dirty]
        touched = [self._base + owner for owner in map(al.b.owner, b) if owner in self._facts]
        for spot in (*spots, *dirty, *touched):
            self._outputs.setdefault(spot, set()).add(position)
        return not spots and mapped != b

    def follows(self, position: int) -> bool:
        """Tell whether an output follows from nodes that changed."""
        return any(position in found for found in self._outputs.values())

    def behind_inputs(self) -> int:
        """Count nodes whose types differ because an input's does."""
        return sum(count for spot, count in self._wake.items() if spot < 0)

    def causes(self) -> list[Cause]:
        """Give causes in current's order."""
        found: dict[int, Cause] = {}
        al, base = self._al, self._base
        spots = [node for node, partner in enumerate(al.of_a) if partner == NOBODY]
        spots += [base + node for node, partner in enumerate(al.of_b) if partner == NOBODY or node in self._facts]
        for spot in spots:
            cause = found.setdefault(self._find(spot), Cause())
            if spot < base:
                cause.removed.append(spot)
            elif al.of_b[spot - base] == NOBODY:
                cause.added.append(spot - base)
            else:
                cause.changed[spot - base] = self._facts[spot - base]
        for spot, count in self._wake.items():
            if spot >= 0:
                found[self._find(spot)].wake += count
        for spot, outputs in self._outputs.items():
            if spot >= 0:
                found[self._find(spot)].outputs |= outputs
        return list(found.values())

    def _find(self, spot: int) -> int:
        parents = self._parents
        while (parent := parents.get(spot, spot)) != spot:
            parents[spot] = spot = parents.get(parent, parent)
        return spot

    def _join(self, spots: list[int]) -> None:
        for one, other in pairwise(spots):
            a, b = self._find(one), self._find(other)
            if a != b:
                self._parents[max(a, b)] = min(a, b)

    def _culprits(self, a: list[int], b: list[int]) -> list[int]:
        """Give the nodes without a partner among the operands, where those of one place differ; join them."""
        al, base = self._al, self._base
        lost, new = self._differing(a, b)
        spots = [al.a.owners[x] for x in lost if x >= 0 and al.of_a[al.a.owners[x]] == NOBODY]
        spots += [base + al.b.owners[y] for y in new if y >= 0 and al.of_b[al.b.owners[y]] == NOBODY]
        self._join(spots)
        return spots

    def _differing(self, a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
        """Give the values that differ: place by place where there are as many."""
        mapped = [self._mapped[value] for value in a]
        if len(a) == len(b):
            places = [place for place, value in enumerate(mapped) if value != b[place]]
            return [a[place] for place in places], [b[place] for place in places]
        return [x for x, value in zip(a, mapped, strict=True) if value not in b], [y for y in b if y not in mapped]

    def _removed(self) -> None:
        flow, of_a = self._al.a, self._al.of_a
        for node, partner in enumerate(of_a):
            if partner == NOBODY:
                near = [owner for owner in flow.operands(node) if owner >= 0 and of_a[owner] == NOBODY]
                self._join([node, *near])

    def _nodes(self) -> None:
        al, mapped, base = self._al, self._mapped, self._base
        equal, of_b = al.equal, al.of_b
        values_a, values_b = al.a.values, al.b.values
        words_a, words_b, types_a, types_b = al.a.words, al.b.words, al.a.types, al.b.types
        for b, a in enumerate(of_b):
            if b in equal:
                continue
            if a == NOBODY:
                near = [base + owner for owner in al.b.operands(b) if owner >= 0 and of_b[owner] == NOBODY]
                self._join([base + b, *near])
                self._dirty[b] = base + b
                continue
            same = words_a[a] == words_b[b] and types_a[a] == types_b[b]
            if not same or tuple([mapped[value] for value in values_a[a]]) != values_b[b]:
                self._pair(a, b)

    def _pair(self, a: int, b: int) -> None:
        """Enter what differs between two partners."""
        al, spot = self._al, self._base + b
        facts = _call_facts(al, a, b)
        a_values, b_values = list(al.a.values[a]), list(al.b.values[b])
        spots = self._culprits(a_values, b_values)
        rewired = [self._mapped[value] for value in a_values] != b_values
        if rewired and not spots and not facts & {"call", "effects"}:
            facts.add("effects" if self._writes_another(a, b) else "operands")
        sources = spots + [self._dirty[owner] for owner in al.b.operands(b) if owner in self._dirty]
        if al.a.types[a] != al.b.types[b]:
            if sources and facts <= {"literal"}:
                self._wake[sources[0]] = self._wake.get(sources[0], 0) + 1
                self._dirty[b] = sources[0]
                return
            facts.add("type")
            self._dirty[b] = spot
        if facts:
            self._facts[b] = facts
            self._join([spot, *spots, *self._replaced_with(a, b, facts)])

    def _replaced_with(self, a: int, b: int, facts: set[str]) -> list[int]:
        """Give the replaced nodes that a replaced one uses: one pattern, unless each is the same replacement."""
        al, base = self._al, self._base
        if "call" not in facts:
            return []
        calls = al.a.graph.nodes, al.b.graph.nodes
        own = calls[0][a].target, calls[1][b].target
        return [
            base + owner
            for owner in al.b.operands(b)
            if "call" in self._facts.get(owner, ()) and own != (calls[0][al.of_b[owner]].target, calls[1][owner].target)
        ]

    def _writes_another(self, a: int, b: int) -> bool:
        """Tell whether two partners write values that are no partners."""
        al = self._al
        one, other = _written(al.a.graph.nodes[a]), _written(al.b.graph.nodes[b])
        return [self._mapped[al.a.ids[name]] for name in one] != [al.b.ids[name] for name in other]

    def _orders(self) -> None:
        """Find pairs whose order against a conflicting pair is another.

        A node that was added or removed, or now has other effects, is its own cause; so are inputs that share storage.
        """
        al = self._al
        if not _same_storages(al):
            return
        moved = []
        for b in {*al.b.orders, *(al.of_a[a] for a in al.a.orders)}:
            a = al.of_b[b] if b != NOBODY else NOBODY
            if a == NOBODY:
                continue
            before_a = {node for _link, node in al.a.orders.get(a, ()) if node >= 0}
            before_b = {node for _link, node in al.b.orders.get(b, ()) if node >= 0}
            was = {al.of_a[node] for node in before_a}
            if NOBODY in was or any(al.of_b[node] == NOBODY for node in before_b) or was == before_b:
                continue
            if any(self._facts.get(node, _NO_FACTS) & {"call", "effects"} for node in was ^ before_b):
                continue
            self._facts.setdefault(b, set()).add("order")
            moved.append(self._base + b)
        self._join(moved)


def _same_storages(alignment: Alignment) -> bool:
    """Tell whether each input shares its storage with the input that its partner does."""
    a, b = alignment.a.graph.inputs, alignment.b.graph.inputs
    names = {a[i].name: b[j].name for i, j in alignment.inputs.items()}
    return all(names.get(a[i].alias or "") == b[j].alias for i, j in alignment.inputs.items())


def _mapped(alignment: Alignment) -> list[int | None]:
    """Map the baseline's results to current's, and from the end on its inputs: -1 is the first, as in values."""
    a, b = alignment.a, alignment.b
    mapped: list[int | None] = [None] * len(a.owners)
    ends = [*b.firsts[1:], len(b.owners)]
    for value, owner in enumerate(a.owners):
        other = alignment.of_a[owner]
        if other != NOBODY:
            found = b.firsts[other] + value - a.firsts[owner]
            if found < ends[other]:
                mapped[value] = found
    partners = alignment.inputs
    inputs = [-1 - partners[place] if place in partners else None for place in range(len(a.graph.inputs))]
    return mapped + inputs[::-1]


def _call_facts(alignment: Alignment, a: int, b: int) -> set[str]:
    if alignment.a.words[a] == alignment.b.words[b]:
        return set()
    one, other = alignment.a.graph.nodes[a], alignment.b.graph.nodes[b]
    if one.target != other.target:
        return {"call"}
    facts = set()
    if one.tags != other.tags:
        facts.add("tags")
    if _effects(one) != _effects(other):
        facts.add("effects")
    if spelled(one._replace(tags=(), effects=())) != spelled(other._replace(tags=(), effects=())):
        facts.add("literal")
    return facts


def _written(node: Node) -> list[str]:
    return [str(name) for kind, on in node.effects if kind == "write" for name in on]


def _effects(node: Node) -> list[tuple[str, object]]:
    """Give a node's effects without the values' names."""
    return [(kind, len(on) if kind in ("alias", "write") else on) for kind, on in node.effects]

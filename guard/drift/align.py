"""Pair the nodes of two graphs: from the inputs, from the outputs, in program order between them, then by neighbours.

Near-linear and without search: a pair is taken when it is found. What is left has no partner: added or removed.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from guard.drift.gaps import pair_calls, pair_replaced, pair_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from guard.drift.flow import Flow

NOBODY = -1
RESULT = 40  # bits of a node's number below the place of a result among several


class Alignment:
    """Two graphs and who is whose partner. ``a`` is the baseline's, ``b`` current's."""

    def __init__(self, a: Flow, b: Flow, inputs: Mapping[int, int]) -> None:
        """Align.

        Args:
            a: The baseline's graph.
            b: Current's.
            inputs: Position of an input of ``a`` -> position of its partner in ``b``.
        """
        self.a, self.b = a, b
        self.inputs = inputs
        self.of_a = [NOBODY] * len(a.words)
        """Node of a -> its partner in b."""
        self.of_b = [NOBODY] * len(b.words)
        self.equal: set[int] = set()
        """Nodes of b that compute what their partner does."""
        self._align()

    def value(self, value: int) -> int | None:
        """Give the value of b that a value of a has become; None where there is none."""
        if value < 0:
            partner = self.inputs.get(-1 - value)
            return None if partner is None else -1 - partner
        owner = self.a.owners[value]
        other = self.of_a[owner]
        if other == NOBODY:
            return None
        found = self.b.firsts[other] + value - self.a.firsts[owner]
        return found if found < len(self.b.owners) and self.b.owners[found] == other else None

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield pairs in current's order."""
        return ((a, b) for b, a in enumerate(self.of_b) if a != NOBODY)

    def _align(self) -> None:
        same = self._same()
        for group_a, group_b in same:
            if len(group_a) == len(group_b):
                self._pair_equal(zip(group_a, group_b, strict=True))
        self._upwards(self._ends())
        self._upwards(self._users([a for group_a, group_b in same if len(group_a) != len(group_b) for a in group_a]))
        for group_a, group_b in same:
            if len(group_a) != len(group_b):
                free_a = [a for a in group_a if self.of_a[a] == NOBODY]
                free_b = [b for b in group_b if self.of_b[b] == NOBODY]
                self._pair_equal(zip(free_a, free_b))  # noqa: B905 - one of them is longer, that is the change
        gaps = list(self._gaps())
        for gap_a, gap_b in gaps:
            self._pair(pair_rows(gap_a, gap_b, self._keys(gap_a, self.a), self._keys(gap_b, self.b)))
        self._neighbours()
        for left_a, left_b in [left for gap in gaps for left in self._within(*gap)]:
            self._pair(pair_calls(left_a, left_b, self))
        # before one call may stand for another: what moved away must not leave its partner to a stranger
        self._moved_and_changed()
        for left_a, left_b in [left for gap in gaps for left in self._within(*gap)]:
            self._pair(pair_replaced(left_a, left_b, self))

    def _pair(self, pairs: Iterator[tuple[int, int]]) -> None:
        for a, b in pairs:
            self.of_a[a], self.of_b[b] = b, a

    def _pair_equal(self, pairs: Iterator[tuple[int, int]]) -> None:
        for a, b in pairs:
            self.of_a[a], self.of_b[b] = b, a
            self.equal.add(b)

    def _keys(self, gap: Sequence[int], flow: Flow) -> list[object]:
        """Give each node's call and the inputs that it uses: copy_ of one buffer is not copy_ of another."""
        keys: list[object] = []
        for node in gap:
            inputs = [value for value in flow.values[node] if value < 0]
            if inputs and flow is self.a:
                inputs = [-1 - self.inputs.get(-1 - value, NOBODY) for value in inputs]
            keys.append((flow.words[node], *inputs) if inputs else flow.words[node])
        return keys

    def related(self, a: int, b: int) -> bool:
        """Tell whether two nodes share an operand, or have none."""
        mine = self.a.values[a]
        other = set(self.b.values[b])
        return not mine or not other or any(self.value(value) in other for value in mine)

    def _same(self) -> list[tuple[list[int], list[int]]]:
        """Group the nodes that compute the same from the inputs on, in program order."""
        table: dict[tuple[int, ...], int] = {}
        prints_a = fingerprints(self.a, table, {i: i for i in range(len(self.a.graph.inputs))})
        back = {b: a for a, b in self.inputs.items()}
        unpaired = len(self.a.graph.inputs)
        own = {i: back.get(i, unpaired + i) for i in range(len(self.b.graph.inputs))}
        prints_b = fingerprints(self.b, table, own)
        common = {*prints_a} & {*prints_b}
        places_a, places_b = _places(prints_a, common), _places(prints_b, common)
        return [(places, places_b[number]) for number, places in places_a.items()]

    def _ends(self) -> list[tuple[int, int]]:
        """Give the values that outputs of one place return."""
        return [
            pair
            for a, b in zip(self.a.outputs(), self.b.outputs())  # noqa: B905 - what has no partner ends here
            for pair in zip(a, b)  # noqa: B905 - likewise
        ]

    def _users(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        """Give what paired users use in place of these nodes, which alone do not tell their twins apart."""
        if not nodes:
            return []
        wanted, owners = set(nodes), self.a.owners
        return [
            pair
            for a, values in enumerate(self.a.values)
            if self.of_a[a] != NOBODY and any(value >= 0 and owners[value] in wanted for value in values)
            for pair in zip(values, self.b.values[self.of_a[a]], strict=True)
        ]

    def _upwards(self, ends: Sequence[tuple[int, int]]) -> None:
        """Pair from these values on upwards, as long as the calls are the same."""
        stack = [pair for pair in ends if min(pair) >= 0]
        a, b = self.a, self.b
        while stack:
            value_a, value_b = stack.pop()
            node_a, node_b = a.owners[value_a], b.owners[value_b]
            place = value_a - a.firsts[node_a] == value_b - b.firsts[node_b]
            taken = self.of_a[node_a] != NOBODY or self.of_b[node_b] != NOBODY
            if taken or not place or a.words[node_a] != b.words[node_b]:
                continue
            self.of_a[node_a], self.of_b[node_b] = node_b, node_a
            stack += [(x, y) for x, y in zip(a.values[node_a], b.values[node_b], strict=True) if x >= 0 and y >= 0]

    def _gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield runs of nodes without a partner between those that keep their order, where both graphs have some."""
        start_a = start_b = 0
        for a, b in [*rising(list(self.pairs())), (len(self.of_a), len(self.of_b))]:
            if a > start_a and b > start_b:
                left_a = [i for i in range(start_a, a) if self.of_a[i] == NOBODY]
                left_b = [i for i in range(start_b, b) if self.of_b[i] == NOBODY]
                if left_a and left_b:
                    yield left_a, left_b
            start_a, start_b = a + 1, b + 1

    def _within(self, gap_a: list[int], gap_b: list[int]) -> Iterator[tuple[list[int], list[int]]]:
        """Yield what is left of a gap between its pairs that keep their order."""
        inside = set(gap_a)
        anchors = rising([(self.of_b[b], b) for b in gap_b if self.of_b[b] in inside])
        i = j = 0
        for a, b in [*anchors, (len(self.of_a), len(self.of_b))]:
            left_a, left_b = [], []
            while i < len(gap_a) and gap_a[i] <= a:
                left_a += [gap_a[i]] if self.of_a[gap_a[i]] == NOBODY else []
                i += 1
            while j < len(gap_b) and gap_b[j] <= b:
                left_b += [gap_b[j]] if self.of_b[gap_b[j]] == NOBODY else []
                j += 1
            if left_a and left_b:
                yield left_a, left_b

    def _neighbours(self) -> None:
        """Pair what moved: the same call on the same operands, wherever it stands."""
        a, b = self.a, self.b
        free: dict[tuple[object, ...], list[int]] = {}
        for node in range(len(self.of_b) - 1, -1, -1):
            if self.of_b[node] == NOBODY:
                free.setdefault((b.words[node], b.values[node]), []).append(node)
        if not free:
            return
        for node, partner in enumerate(self.of_a):
            if partner == NOBODY:
                key = (a.words[node], tuple([self.value(value) for value in a.values[node]]))
                found = free.get(key)
                if found:
                    other = found.pop()
                    self.of_a[node], self.of_b[other] = other, node

    def _moved_and_changed(self) -> None:
        """Pair the only calls of one operator that are left on each side, wherever they stand."""
        left_a, left_b = _left(self.a, self.of_a), _left(self.b, self.of_b)
        for target, nodes in left_a.items():
            others = left_b.get(target, [])
            if len(nodes) == len(others) == 1:
                self._pair(zip(nodes, others, strict=True))


def _places(prints: Sequence[int], wanted: set[int]) -> dict[int, list[int]]:
    """Give the places of each wanted number, in order of the first."""
    places: dict[int, list[int]] = {}
    for place, number in enumerate(prints):
        if number in wanted:
            places.setdefault(number, []).append(place)
    return places


def _left(flow: Flow, partners: list[int]) -> dict[str, list[int]]:
    """Give the nodes without a partner by their operator."""
    left: dict[str, list[int]] = {}
    for node, partner in enumerate(partners):
        if partner == NOBODY:
            left.setdefault(flow.graph.nodes[node].target, []).append(node)
    return left


def fingerprints(flow: Flow, table: dict[tuple[int, ...], int], inputs: Mapping[int, int]) -> list[int]:
    """Number each node by its call, its types and its operands' numbers: equal numbers compute the same, exactly.

    Args:
        flow: The graph.
        table: Shared by both graphs.
        inputs: Position of an input -> what stands for it in both.
    """
    found: list[int] = []
    numbers: dict[int, int] = {-1 - position: -1 - other for position, other in inputs.items()}
    number_of = numbers.__getitem__
    firsts = [*flow.firsts, len(flow.owners)]
    first = 0
    for word, types, values, after in zip(flow.words, flow.types, flow.values, firsts[1:], strict=True):
        number = table.setdefault((word, types, *map(number_of, values)), len(table))
        found.append(number)
        numbers[first] = number
        if after - first != 1:
            numbers.update((first + place, number + (place << RESULT)) for place in range(after - first))
        first = after
    return found


def rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the most pairs that have the same order in both graphs (a longest increasing subsequence)."""
    firsts = [a for a, _b in pairs]
    if all(one < other for one, other in pairwise(firsts)):
        return list(pairs)
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, a in enumerate(firsts):
        length = bisect_left(tails, a)
        before.append(ends[length - 1] if length else NOBODY)
        if length == len(tails):
            tails.append(a)
            ends.append(place)
        else:
            tails[length], ends[length] = a, place
    kept = []
    place = ends[-1]
    while place != NOBODY:
        kept.append(pairs[place])
        place = before[place]
    return kept[::-1]

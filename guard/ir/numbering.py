"""Canonical numbers of nodes and values: depth first from what counts, over ordered dependences. Knows no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.ir.dependence import Dependences, Use

_PENDING = -2
_UNSEEN = -1


class Numbering:
    """Numbers what outputs, inputs' storage, generators, collectives and barriers depend on; ``visit`` adds more."""

    def __init__(self, dependences: Dependences) -> None:
        self.order: list[int] = []
        """Positions in the graph, in canonical order: each node behind what it depends on."""
        self._dependences = dependences
        self._numbers = [_UNSEEN] * len(dependences.uses)
        self._values = [_UNSEEN] * len(dependences.owners)
        self._count = 0
        self.visit(self._roots())

    def node(self, position: int) -> int:
        """Give a node's number; -1 for a node without one, and for no node (-1)."""
        return self._numbers[position] if position >= 0 else _UNSEEN

    def value(self, value: int) -> int:
        """Give a result's number; inputs keep theirs."""
        return self._values[value] if value >= 0 else value

    def renumber(self, use: Use, form: list[object]) -> None:
        """Add a use's canonical form: its text, as many numbers as that has uses, and a tuple of what orders it."""
        text, values, versions, chains, epoch = use
        new = self._values
        form.append(text)
        form += [new[value] if value >= 0 else value for value in values]
        if versions or chains or epoch:
            form.append((*map(self.node, versions), "after", *map(self.node, chains), "epoch", epoch))

    def visit(self, roots: Iterable[int]) -> None:
        """Number these nodes and what they depend on. Iterative: chains are as long as graphs."""
        numbers, order = self._numbers, self.order
        for root in roots:
            stack = [root]
            while stack:
                position = stack[-1]
                state = numbers[position]
                if state == _UNSEEN:
                    numbers[position] = _PENDING
                    stack += self._unseen(position)
                    continue
                stack.pop()
                if state == _PENDING:
                    numbers[position] = len(order)
                    order.append(position)
                    self._number_results(position)

    def _unseen(self, position: int) -> list[int]:
        """Give dependences without a number, last one first: a stack takes them from its end."""
        numbers, owners = self._numbers, self._dependences.owners
        _text, values, versions, chains, _epoch = self._dependences.uses[position]
        found = [owners[value] for value in values if value >= 0]
        if versions or chains:
            found += [node for node in (*versions, *chains) if node >= 0]
        return [node for node in reversed(found) if numbers[node] == _UNSEEN]

    def _number_results(self, position: int) -> None:
        firsts, values = self._dependences.firsts, self._values
        start = firsts[position]
        end = firsts[position + 1] if position + 1 < len(firsts) else len(values)
        for value in range(start, end):
            values[value] = self._count
            self._count += 1

    def _roots(self) -> Iterable[int]:
        dependences = self._dependences
        for output in dependences.outputs:
            yield from (dependences.owners[value] for value in output.values if value >= 0)
            yield from (node for node in output.versions if node >= 0)
        yield from (node for node in dependences.last_writers if node >= 0)
        yield from dependences.barriers
        yield from (last for _link, last in sorted(dependences.chains.items()))

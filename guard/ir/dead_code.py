"""Canonical order of what nothing depends on: MakeFx keeps dead nodes, and their order means nothing. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from guard.ir.dependence import Dependences, Use
    from guard.ir.numbering import Numbering


def dead_sinks(dependences: Dependences, numbering: Numbering, results: Sequence[list[str]]) -> list[int]:
    """Give the dead nodes that no other one uses, in an order that depends on content alone.

    A Merkle hash over what each depends on orders them; a second one, over the first and those of the users, tells a
    shared operand from an equal one: ``f(p), f(p), f(q)`` with equal p and q.

    Args:
        dependences: Of the graph.
        numbering: Of the nodes that are not dead.
        results: Each node's results as text.
    """
    dead = [position for position in range(len(dependences.uses)) if numbering.node(position) < 0]
    first: dict[int, str] = {}
    for position in dead:
        first[position] = _hash(dependences, numbering, position, first, results[position])
    users: dict[int, list[tuple[int, int]]] = {position: [] for position in dead}
    for position in dead:
        for place, operand in enumerate(_operands(dependences, position)):
            if operand in users:
                users[operand].append((position, place))
    upward: dict[int, str] = {}
    for position in reversed(dead):
        above = sorted((upward[user], place) for user, place in users[position])
        upward[position] = _digest((first[position], above))
    last: dict[int, str] = {}
    for position in dead:
        last[position] = _hash(dependences, numbering, position, last, [upward[position]])
    return sorted((position for position in dead if not users[position]), key=last.__getitem__)


def _hash(
    dependences: Dependences, numbering: Numbering, position: int, known: dict[int, str], own: Sequence[str]
) -> str:
    use = dependences.uses[position]
    values = [_value(dependences, numbering, value, known) for value in use.values]
    nodes = [known.get(node, numbering.node(node)) for node in (*use.versions, *use.chains)]
    return _digest((use.text, values, nodes, use.epoch, own))


def _value(dependences: Dependences, numbering: Numbering, value: int, known: dict[int, str]) -> object:
    """Name a live value by its number, a dead one by its node's hash and its place among the results."""
    owner = dependences.owners[value] if value >= 0 else value
    if owner not in known:
        return numbering.value(value)
    return known[owner], value - dependences.firsts[owner]


def _operands(dependences: Dependences, position: int) -> Iterable[int]:
    use: Use = dependences.uses[position]
    return [*(dependences.owners[value] if value >= 0 else -1 for value in use.values), *use.versions, *use.chains]


def _digest(content: object) -> str:
    return hashlib.blake2b(repr(content).encode(), digest_size=16).hexdigest()

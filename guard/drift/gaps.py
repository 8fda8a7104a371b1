"""Pair two runs of nodes that lie between the same neighbours, in program order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.drift.edits import edits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.drift.align import Alignment
    from guard.drift.edits import Edit

# Rows looked ahead for the next equal one: what is inserted in one place is mostly shorter, and time grows with it
WINDOW = 48


def pair_rows(
    a: Sequence[int], b: Sequence[int], keys_a: Sequence[object], keys_b: Sequence[object]
) -> Iterator[tuple[int, int]]:
    """Pair nodes of equal keys; at a difference, the shortest edit within the next rows says where they go on."""
    i = j = 0
    while i < len(a) and j < len(b):
        if keys_a[i] == keys_b[j]:
            yield a[i], b[j]
            i, j = i + 1, j + 1
            continue
        first = edits(keys_a[i : i + WINDOW], keys_b[j : j + WINDOW])[0]
        i, j = i + first.b, j + first.d


def pair_calls(a: Sequence[int], b: Sequence[int], alignment: Alignment) -> Iterator[tuple[int, int]]:
    """Pair calls of one operator in what is left of one place."""
    i = j = 0
    for edit in _edits(a, b, alignment):
        yield from zip(a[i : edit.a], b[j : edit.c], strict=True)
        i, j = edit.b, edit.d
    yield from zip(a[i:], b[j:], strict=True)


def pair_replaced(a: Sequence[int], b: Sequence[int], alignment: Alignment) -> Iterator[tuple[int, int]]:
    """Pair one for one what is left of one place, where only as many are left."""
    nodes_a, nodes_b = alignment.a.graph.nodes, alignment.b.graph.nodes
    for edit in _edits(a, b, alignment):
        if edit.b - edit.a == edit.d - edit.c:
            for one, other in zip(a[edit.a : edit.b], b[edit.c : edit.d], strict=True):
                results = len(nodes_a[one].results) == len(nodes_b[other].results)
                if results and alignment.related(one, other):
                    yield one, other


def _edits(a: Sequence[int], b: Sequence[int], alignment: Alignment) -> list[Edit]:
    """Tell where two runs differ by their operators."""
    nodes_a, nodes_b = alignment.a.graph.nodes, alignment.b.graph.nodes
    return edits([nodes_a[node].target for node in a], [nodes_b[node].target for node in b])

"""Lines of a change: nodes in place with two rows of context, each of current's with its source. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.drift.align import NOBODY
from guard.drift.signature import output_text
from guard.ir.printer import print_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.drift.align import Alignment
    from guard.drift.causes import Cause
    from guard.drift.signature import Item
    from guard.ir.graph import Node

CONTEXT = 2
WIDTH = 100  # where a source stands at most: a terminal of 120 columns holds it


class Row(NamedTuple):
    """One line: its sign, text and source."""

    sign: str
    text: str
    source: str | None = None


GAP = Row("  ", "...")


def item_rows(items: Iterable[Item]) -> list[Row]:
    """Give what the signature was and is."""
    rows = []
    for item in items:
        rows += [Row("- ", item.was)] if item.was is not None else []
        rows += [Row("+ ", item.now)] if item.now is not None else []
    return rows


def node_rows(alignment: Alignment, causes: Iterable[Cause]) -> list[Row]:
    """Give the nodes of causes in current's order; removed ones stand where they were."""
    gone, come = _marks(alignment, causes)
    shown: list[Row] = []
    previous = 0
    for place in sorted({*gone, *come}):
        shown += _between(alignment, previous, place, first=not shown)
        shown += [_row("- ", alignment.a.graph.nodes[node]) for node in gone.get(place, ())]
        if place in come:
            shown.append(_row("+ ", alignment.b.graph.nodes[place]))
        previous = place + (place in come)
    if shown:
        shown += _context(alignment, previous, min(previous + CONTEXT, len(alignment.of_b)))
    return shown


def role_rows(alignment: Alignment, causes: Iterable[Cause]) -> list[Row]:
    """Give the outputs that became, or no longer are, views or mutations of an input because of these causes."""
    a, b = alignment.a.graph.outputs, alignment.b.graph.outputs
    places = sorted({place for cause in causes for place in cause.outputs if len(a) == len(b)})
    rows = []
    for place in places:
        if a[place].role != b[place].role:
            rows += [Row("- ", output_text(a[place])), Row("+ ", output_text(b[place]))]
    return rows


def layout(rows: Sequence[Row]) -> tuple[str, ...]:
    """Print rows, sources in one column."""
    sourced = [len(row.text) for row in rows if row.source]
    column = min(max(sourced, default=0), WIDTH) + 2
    return tuple(
        f"{row.sign}{row.text:<{column}}{row.source}" if row.source else f"{row.sign}{row.text}".rstrip()
        for row in rows
    )


def _marks(alignment: Alignment, causes: Iterable[Cause]) -> tuple[dict[int, list[int]], set[int]]:
    """Give, by place in current, the baseline's nodes that are shown there, and current's nodes that are."""
    gone: dict[int, list[int]] = {}
    come: set[int] = set()
    removed: list[int] = []
    for cause in causes:
        come.update(cause.added)
        for node in cause.changed:
            come.add(node)
            gone.setdefault(node, []).append(alignment.of_b[node])
        removed += cause.removed
    for node, place in _places(alignment, sorted(removed)):
        gone.setdefault(place, []).append(node)
    return {place: sorted(nodes) for place, nodes in gone.items()}, come


def _places(alignment: Alignment, removed: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give the place in current behind the partner of the last node before each that has one."""
    place = start = 0
    for node in removed:
        for before in range(start, node):
            if alignment.of_a[before] != NOBODY:
                place = alignment.of_a[before] + 1
        start = node
        yield node, place


def _between(alignment: Alignment, start: int, stop: int, *, first: bool) -> list[Row]:
    """Give the context between two changes: all of it where it is short."""
    if not first and stop - start <= 2 * CONTEXT:
        return _context(alignment, start, stop)
    head = [] if first else [*_context(alignment, start, start + CONTEXT), GAP]
    return head + _context(alignment, max(start, stop - CONTEXT), stop)


def _context(alignment: Alignment, start: int, stop: int) -> list[Row]:
    nodes = alignment.b.graph.nodes[start:stop]
    return [Row("  ", print_node(node)) for node in nodes]


def _row(sign: str, node: Node) -> Row:
    return Row(sign, print_node(node), node.source if sign == "+ " else None)

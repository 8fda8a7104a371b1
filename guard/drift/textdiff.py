"""The lines of two programs that differ, for messages: pure. What *equal* means is guard.ir.canonical's.

Values are numbered in program order, so one inserted operation renumbers all that follow. Rows are therefore matched on
a key in which each operand is written as the operation that produced it; only rows without a partner are shown.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from guard.drift.edits import edits
from guard.ir.printer import print_graph, print_node, print_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard.ir.graph import Graph, Program

CONTEXT = 2
LIMIT = 40
WIDTH = 100  # where a source stands at most: a terminal of 120 columns holds it
VALUE = re.compile(r'%(?:"(?:[^"\\]|\\.)*"|[\w.]+)')


class Row(NamedTuple):
    """One line of a program."""

    key: str
    text: str
    source: str | None = None
    node: bool = False


class Diff(NamedTuple):
    """What is only in one of two programs."""

    added: int
    """Nodes that only current has."""
    removed: int
    """Nodes that only the baseline has."""
    lines: tuple[str, ...]
    """``- ...`` of the baseline, ``+ ...`` of current with its source, two rows of context around each."""

    @property
    def title(self) -> str:
        """``+3 -1 nodes``; what else differs where no node does."""
        counts = [f"{sign}{n}" for sign, n in (("+", self.added), ("-", self.removed)) if n]
        if not counts:
            return "signature or header differs"
        return f"{' '.join(counts)} node{'' if self.added + self.removed == 1 else 's'}"


def diff(baseline: Program, current: Program) -> Diff:
    """Return the rows that differ; where only the wiring between equal operations does, the plain lines that differ."""
    keyed = _compare(list(_rows(baseline)), list(_rows(current)))
    return keyed if keyed.lines else _compare(_plain(baseline), _plain(current))


def shorten(lines: tuple[str, ...], more: str, limit: int = LIMIT) -> tuple[str, ...]:
    """Cut to ``limit`` lines; the last one then says how many follow and the command that prints them."""
    if len(lines) <= limit:
        return lines
    return (*lines[:limit], f"... {len(lines) - limit} more lines: {more}")


def _rows(program: Program) -> Iterator[Row]:
    header = print_program(replace(program, check="", graphs=(), bodies=()))
    yield from (Row(line, line) for line in header.splitlines() if line and not line.startswith("check"))
    for graph in program.graphs:
        yield from _graph_rows(graph, "graph")
    for body in program.bodies:
        yield from _graph_rows(body, "body")


def _graph_rows(graph: Graph, keyword: str) -> Iterator[Row]:
    *head, last, brace = print_graph(replace(graph, nodes=()), keyword).splitlines()
    yield from (Row(line, line) for line in head)
    names: dict[str, str] = {}
    for node in graph.nodes:
        text = print_node(node).strip()
        for index, result in enumerate(node.results):
            if result.name is not None:
                names[f"%{result.name}"] = f"%{node.target}#{index}"
        yield Row(_key(text, names), text, node.source, node=True)
    yield Row(_key(last, names), last.strip())
    yield Row(brace, brace)


def _key(text: str, names: Mapping[str, str]) -> str:
    return VALUE.sub(lambda match: names.get(match[0], match[0]), text)


def _plain(program: Program) -> list[Row]:
    return [row._replace(key=row.text) for row in _rows(program)]


def _compare(before: list[Row], after: list[Row]) -> Diff:
    changes = edits([row.key for row in before], [row.key for row in after])
    removed = [row for edit in changes for row in before[edit.a : edit.b]]
    added = [row for edit in changes for row in after[edit.c : edit.d]]
    shown: list[tuple[str, Row]] = []
    previous = 0
    for a, b, c, d in changes:
        shown += _between(after, previous, c)
        shown += [("- ", row) for row in before[a:b]] + [("+ ", row) for row in after[c:d]]
        previous = d
    if changes:
        shown += [("  ", row) for row in after[previous : previous + CONTEXT]]
    return Diff(sum(row.node for row in added), sum(row.node for row in removed), tuple(_layout(shown)))


def _between(rows: list[Row], start: int, stop: int) -> list[tuple[str, Row]]:
    """Return the context between two changes: all of it where it is short."""
    if start and stop - start <= 2 * CONTEXT:
        return [("  ", row) for row in rows[start:stop]]
    head = rows[start : start + CONTEXT] if start else []
    tail = rows[max(start, stop - CONTEXT) : stop]
    gap = [("  ", Row("...", "..."))] if start else []
    return [("  ", row) for row in head] + gap + [("  ", row) for row in tail]


def _layout(shown: list[tuple[str, Row]]) -> Iterator[str]:
    sourced = [len(row.text) for sign, row in shown if sign == "+ " and row.source]
    column = min(max(sourced, default=0), WIDTH) + 2
    for sign, row in shown:
        with_source = sign == "+ " and row.source
        yield f"{sign}{row.text:<{column}}{row.source}" if with_source else f"{sign}{row.text}".rstrip()

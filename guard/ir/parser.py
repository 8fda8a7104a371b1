"""Text back to programs. Whatever is wrong is a GraphSyntaxError with line and column (docs/grammar.md)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guard.errors import GraphSyntaxError
from guard.ir.graph import Program
from guard.ir.lexer import Cursor, error_at
from guard.ir.read_graph import read_graph
from guard.ir.read_header import Header
from guard.ir.uses import cycle

if TYPE_CHECKING:
    from guard.ir.graph import Graph

__all__ = ["MAX_BYTES", "parse_bytes", "parse_program"]

MAX_BYTES = 64 * 2**20
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


def parse_bytes(data: bytes, path: str = "<text>") -> Program:
    """Parse a file's bytes: UTF-8 of at most 64 MiB.

    Raises:
        GraphSyntaxError: anything is wrong.
    """
    if len(data) > MAX_BYTES:
        raise GraphSyntaxError(f"the file has {len(data)} bytes, wanted at most {MAX_BYTES} (64 MiB)", 1, 1, path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        raise error_at(before, "the file is not UTF-8", len(before), path) from None
    return parse_program(text, path)


def parse_program(text: str, path: str = "<text>") -> Program:
    """Parse one file's text; ``parse_program(print_program(p)) == p``.

    Raises:
        GraphSyntaxError: anything is wrong.
    """
    text = text.replace("\r\n", "\n")
    _refuse(text, path)
    header = Header(text, path)
    header.version()
    check = header.text_of("check")
    tracer = header.text_of("tracer")
    events = header.events()
    error = header.capture_error()
    if error is not None:
        header.end("an error, which stands in place of graphs")
        return Program(check, tracer, events=events, error=error)
    if header.no_graphs():
        header.end('"no graphs"')
        return Program(check, tracer, events=events)
    graphs, bodies = _graphs(Cursor(text, header.position, path))
    return Program(check, tracer, graphs, bodies, events)


def _refuse(text: str, path: str) -> None:
    """Refuse what would only give a puzzling message further down."""
    nul = text.find("\0")
    if nul >= 0:
        raise error_at(text, "the file has a NUL byte", nul, path)
    conflict = _CONFLICT.search(text)
    if conflict:
        problem = "merge conflict marker: take either side, or check again and accept"
        raise error_at(text, problem, conflict.start(), path)


def _graphs(cursor: Cursor) -> tuple[tuple[Graph, ...], tuple[Graph, ...]]:
    graphs: dict[str, Graph] = {}
    bodies: dict[str, Graph] = {}
    used: dict[str, int] = {}
    while cursor.token.kind != "end" or not graphs:
        position = cursor.token.start
        found = bodies if bodies or cursor.at("body") else graphs
        cursor.expect("body" if found is bodies else "graph")
        graph = read_graph(cursor, used)
        if graph.name in graphs or graph.name in bodies:
            raise cursor.error(f'graph "{graph.name}" is defined twice', position)
        found[graph.name] = graph
        if cursor.token.kind != "end" and not cursor.starts_line():
            raise cursor.wanted("the end of the line")
    _check_bodies(cursor, bodies, used)
    return tuple(graphs.values()), tuple(bodies.values())


def _check_bodies(cursor: Cursor, bodies: dict[str, Graph], used: dict[str, int]) -> None:
    """Refuse bodies that are missing, or that use themselves: comparing goes into them."""
    for name, position in used.items():
        if name not in bodies:
            raise cursor.error(f'body "@{name}" is used, but the file does not define it', position)
    loop = cycle(bodies)
    if loop is not None:
        raise cursor.error(f'body "@{loop}" uses itself', used[loop])

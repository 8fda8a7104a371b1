"""Reader of one graph: signature, lines about it, nodes, returned values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.graph import Graph, Output
from guard.ir.read_arg import read_arg
from guard.ir.read_expr import read_expr
from guard.ir.read_node import read_nodes
from guard.ir.read_signature import read_inputs, read_outputs
from guard.ir.read_token import read_device
from guard.ir.read_tree import read_tree
from guard.ir.scope import Scope
from guard.ir.types import ScalarType

if TYPE_CHECKING:
    from guard.ir.expr import Expr
    from guard.ir.graph import Arg
    from guard.ir.lexer import Cursor
    from guard.ir.read_signature import OuterType
    from guard.ir.types import Type


def read_graph(cursor: Cursor, bodies: dict[str, int]) -> Graph:
    """Read from behind the keyword to the closing brace; add the bodies that it uses, with the place of first use."""
    scope = Scope(cursor, bodies)
    name = cursor.name("the graph's name")
    inputs = read_inputs(cursor, scope)
    cursor.expect("->")
    outer = read_outputs(cursor, scope)
    cursor.expect("{")
    where = _where(cursor) if cursor.accept("where") else ()
    in_tree = read_tree(cursor) if cursor.accept("inputs") else None
    out_tree = read_tree(cursor) if cursor.accept("outputs") else None
    device = read_device(cursor) if cursor.accept("device") else "cpu"
    nodes = read_nodes(cursor, scope)
    outputs = _return(cursor, scope, outer)
    cursor.expect("}")
    return Graph(name, inputs, nodes, outputs, where, in_tree, out_tree, device)


def _where(cursor: Cursor) -> tuple[Expr, ...]:
    items = [read_expr(cursor)]
    while cursor.accept(","):
        items.append(read_expr(cursor))
    return tuple(items)


def _return(cursor: Cursor, scope: Scope, outer: list[OuterType]) -> tuple[Output, ...]:
    position = cursor.token.start
    cursor.expect("return")
    values: list[Arg] = []
    while not cursor.at("}"):
        if values:
            cursor.expect(",")
        start = cursor.token.start
        values.append(read_arg(cursor))
        scope.use_all(values[-1], start)
    if len(values) != len(outer):
        raise cursor.error(f"the graph returns {len(values)} values, its signature names {len(outer)}", position)
    return tuple(
        Output(value, _literal_type(value, item.type), item.role, item.of)
        for value, item in zip(values, outer, strict=True)
    )


def _literal_type(value: Arg, type_: Type | None) -> Type | None:
    """Tell ``None``, which is no value and has no type, from a value whose type is None."""
    return None if value is None and type_ == ScalarType("None") else type_

"""Reader of a graph's signature: inputs, and what it says of outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.ir.graph import OUTPUT_ROLES, ROLES, Input
from guard.ir.read_type import read_type

if TYPE_CHECKING:
    from guard.ir.lexer import Cursor
    from guard.ir.scope import Scope
    from guard.ir.types import Type


class OuterType(NamedTuple):
    """What the signature says of one output."""

    role: str
    of: str | None
    type: Type | None


def read_inputs(cursor: Cursor, scope: Scope) -> tuple[Input, ...]:
    """Read ``(%x: f32[4], ...)``; the inputs are defined from then on."""
    items: list[Input] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        if items:
            cursor.expect(",")
        items.append(_input(cursor, scope))
    return tuple(items)


def read_outputs(cursor: Cursor, scope: Scope) -> list[OuterType]:
    """Read ``(f32[4], grad %w: f32[4], ...)``; the values follow behind ``return``."""
    items: list[OuterType] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        if items:
            cursor.expect(",")
        items.append(_outer_type(cursor, scope))
    return items


def _input(cursor: Cursor, scope: Scope) -> Input:
    role = "input"
    if cursor.token.kind == "word":
        role = cursor.one_of(ROLES, "a role of an input")
    token = cursor.expect_kind("ref", "an input such as %x")
    name = cursor.spelled(token, 1)
    cursor.expect(":")
    type_ = read_type(cursor)
    labels = _labels(cursor) if cursor.accept("also") else ()
    alias = _used(cursor, scope) if cursor.accept("alias") else None
    scope.define(name, token.start)
    return Input(name, type_, role, labels, alias)


def _labels(cursor: Cursor) -> tuple[str, ...]:
    labels = [cursor.string("a quoted name")]
    while cursor.at(",") and cursor.after.kind == "string":
        cursor.take()
        labels.append(cursor.string("a quoted name"))
    return tuple(labels)


def _used(cursor: Cursor, scope: Scope) -> str:
    token = cursor.expect_kind("ref", "a value such as %x")
    name = cursor.spelled(token, 1)
    scope.use(name, token.start)
    return name


def _outer_type(cursor: Cursor, scope: Scope) -> OuterType:
    role, of = "output", None
    if cursor.token.kind == "word" and cursor.token.text in OUTPUT_ROLES:
        role = cursor.take().text
    if cursor.token.kind == "ref":
        of = _used(cursor, scope)
        cursor.expect(":")
    elif cursor.token.kind == "string" and cursor.after.text == ":":
        of = _elsewhere(cursor, scope)
        cursor.expect(":")
    return OuterType(role, of, None if cursor.accept("literal") else read_type(cursor))


def _elsewhere(cursor: Cursor, scope: Scope) -> str:
    """Read the label of an input that another graph has: a backward's gradients are of the forward's inputs."""
    position = cursor.token.start
    name = cursor.string("a quoted name")
    if name in scope.names:
        raise cursor.error(f'input "%{name}" is of this graph: wanted it without quotes', position)
    return name

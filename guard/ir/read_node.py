"""Reader of nodes: results, call, effects, tags. Refuses values that are not defined before their use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.graph import EFFECTS, Effect, Node, Result
from guard.ir.ranks import read_ranks
from guard.ir.read_arg import read_arg
from guard.ir.read_token import read_device
from guard.ir.read_type import read_type

if TYPE_CHECKING:
    from guard.ir.graph import Arg
    from guard.ir.lexer import Cursor
    from guard.ir.scope import Scope


def read_nodes(cursor: Cursor, scope: Scope) -> tuple[Node, ...]:
    """Read nodes, each from the start of its line, up to ``return``."""
    nodes: list[Node] = []
    while not (cursor.at("return") or cursor.at("}")):
        if not cursor.starts_line():
            raise cursor.wanted("the end of the line")
        nodes.append(_node(cursor, scope))
    return tuple(nodes)


def _node(cursor: Cursor, scope: Scope) -> Node:
    results = _results(cursor, scope)
    start = cursor.token.start
    target = cursor.name("an operator such as aten.add.Tensor")
    args, kwargs = _arguments(cursor)
    effects = _effects(cursor) if cursor.accept("{") else ()
    tags = _tags(cursor)
    scope.use_all((*args, *(value for _key, value in kwargs)), start)
    for effect in effects:
        if effect.kind in ("alias", "write"):
            for name in effect.on:
                scope.use(str(name), start)
    for result, position in results:
        if result.name is not None:
            scope.define(result.name, position)
    return Node(tuple(result for result, _position in results), target, args, kwargs, effects, tags)


def _results(cursor: Cursor, scope: Scope) -> list[tuple[Result, int]]:
    results: list[tuple[Result, int]] = []
    while cursor.token.kind == "ref" or cursor.at("_"):
        results.append(_result(cursor, scope))
        if not cursor.accept(","):
            cursor.expect("=")
            break
    return results


def _result(cursor: Cursor, scope: Scope) -> tuple[Result, int]:
    token = cursor.take()
    name = cursor.spelled(token, 1) if token.kind == "ref" else None
    cursor.expect(":")
    start = cursor.token.start
    type_ = read_type(cursor)
    return Result(name, scope.types.setdefault(cursor.text[start : cursor.end], type_)), token.start


def _arguments(cursor: Cursor) -> tuple[tuple[Arg, ...], tuple[tuple[str, Arg], ...]]:
    args: list[Arg] = []
    kwargs: list[tuple[str, Arg]] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        if args or kwargs:
            cursor.expect(",")
        if cursor.token.kind in ("word", "string") and cursor.after.text == "=" and cursor.after.kind == "op":
            kwargs.append(_keyword(cursor, kwargs))
        elif kwargs:
            raise cursor.wanted("a keyword argument")
        else:
            args.append(read_arg(cursor))
    return tuple(args), tuple(kwargs)


def _keyword(cursor: Cursor, kwargs: list[tuple[str, Arg]]) -> tuple[str, Arg]:
    position = cursor.token.start
    key = cursor.name("a keyword")
    if any(key == other for other, _value in kwargs):
        raise cursor.error(f'keyword argument "{key}" is given twice', position)
    cursor.expect("=")
    return key, read_arg(cursor)


def _effects(cursor: Cursor) -> tuple[Effect, ...]:
    effects = [_effect(cursor)]
    while not cursor.accept("}"):
        cursor.expect(",")
        effects.append(_effect(cursor))
    return tuple(effects)


def _effect(cursor: Cursor) -> Effect:
    kind = cursor.one_of(EFFECTS, "an effect")
    on: list[str | int] = []
    while not (cursor.at("}") or cursor.at(",")) or (on and cursor.at(",") and cursor.after.text not in EFFECTS):
        if on:
            cursor.expect(",")
        on += read_ranks(cursor) if cursor.token.kind == "number" else (_place(cursor, kind),)
    return Effect(kind, tuple(on))


def _place(cursor: Cursor, kind: str) -> str:
    if kind in ("alias", "write"):
        return cursor.spelled(cursor.expect_kind("ref", "a value such as %x"), 1)
    return read_device(cursor)


def _tags(cursor: Cursor) -> tuple[str, ...]:
    tags: list[str] = []
    while cursor.token.kind == "tag":
        tags.append(cursor.spelled(cursor.take(), 1))
    return tuple(tags)

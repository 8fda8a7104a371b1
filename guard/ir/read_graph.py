"""Reader of one graph: signature, nodes, outputs. Refuses names that are not defined before their use."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.ir.graph import EFFECTS, OUTPUT_ROLES, ROLES, Effect, Graph, Input, Node, Output, Result
from guard.ir.read_arg import read_arg
from guard.ir.read_expr import read_expr
from guard.ir.read_tree import read_tree
from guard.ir.read_type import read_device, read_type
from guard.ir.types import ScalarType
from guard.ir.uses import body_names, refs

if TYPE_CHECKING:
    from guard.ir.expr import Expr
    from guard.ir.graph import Arg
    from guard.ir.lexer import Cursor
    from guard.ir.types import Type


class _OuterType(NamedTuple):
    """What the signature says of one output."""

    role: str
    of: str | None
    type: Type | None


class _Scope:
    """The values defined so far, and the bodies used, in one graph."""

    def __init__(self, cursor: Cursor, bodies: dict[str, int]) -> None:
        self.cursor = cursor
        self.names: set[str] = set()
        self.types: dict[str, Type] = {}
        self.bodies = bodies

    def define(self, name: str, position: int) -> None:
        if name in self.names:
            raise self.cursor.error(f'value "%{name}" is defined twice', position)
        self.names.add(name)

    def use(self, name: str, position: int) -> None:
        if name not in self.names:
            raise self.cursor.error(f'value "%{name}" is used before it is defined', position)

    def use_all(self, arg: Arg, position: int) -> None:
        for name in refs(arg):
            self.use(name, position)
        for body in body_names(arg):
            self.bodies.setdefault(body, position)


def read_graph(cursor: Cursor, bodies: dict[str, int]) -> Graph:
    """Read from behind the keyword to the closing brace; add the bodies that it uses, with the place of first use."""
    scope = _Scope(cursor, bodies)
    name = cursor.name("the graph's name")
    inputs = _inputs(cursor, scope)
    cursor.expect("->")
    outer = _outputs(cursor, scope)
    cursor.expect("{")
    where = _where(cursor) if cursor.accept("where") else ()
    in_tree = read_tree(cursor) if cursor.accept("inputs") else None
    out_tree = read_tree(cursor) if cursor.accept("outputs") else None
    device = read_device(cursor) if cursor.accept("device") else "cpu"
    nodes = _nodes(cursor, scope)
    outputs = _return(cursor, scope, outer)
    cursor.expect("}")
    return Graph(name, inputs, nodes, outputs, where, in_tree, out_tree, device)


def _inputs(cursor: Cursor, scope: _Scope) -> tuple[Input, ...]:
    items: list[Input] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        if items:
            cursor.expect(",")
        items.append(_input(cursor, scope))
    return tuple(items)


def _input(cursor: Cursor, scope: _Scope) -> Input:
    role = "input"
    if cursor.token.kind == "word":
        role = _one_of(cursor, ROLES, "a role of an input")
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


def _used(cursor: Cursor, scope: _Scope) -> str:
    token = cursor.expect_kind("ref", "a value such as %x")
    name = cursor.spelled(token, 1)
    scope.use(name, token.start)
    return name


def _outputs(cursor: Cursor, scope: _Scope) -> list[_OuterType]:
    items: list[_OuterType] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        if items:
            cursor.expect(",")
        items.append(_outer_type(cursor, scope))
    return items


def _outer_type(cursor: Cursor, scope: _Scope) -> _OuterType:
    role, of = "output", None
    if cursor.token.kind == "word" and cursor.token.text in OUTPUT_ROLES:
        role = cursor.take().text
    if cursor.token.kind == "ref":
        of = _used(cursor, scope)
        cursor.expect(":")
    elif cursor.token.kind == "string" and cursor.after.text == ":":
        of = _elsewhere(cursor, scope)
        cursor.expect(":")
    return _OuterType(role, of, None if cursor.accept("literal") else read_type(cursor))


def _elsewhere(cursor: Cursor, scope: _Scope) -> str:
    """Read the label of an input that another graph has: a backward's gradients are of the forward's inputs."""
    position = cursor.token.start
    name = cursor.string("a quoted name")
    if name in scope.names:
        raise cursor.error(f'input "%{name}" is of this graph: wanted it without quotes', position)
    return name


def _where(cursor: Cursor) -> tuple[Expr, ...]:
    items = [read_expr(cursor)]
    while cursor.accept(","):
        items.append(read_expr(cursor))
    return tuple(items)


def _nodes(cursor: Cursor, scope: _Scope) -> tuple[Node, ...]:
    nodes: list[Node] = []
    while not (cursor.at("return") or cursor.at("}")):
        if not cursor.starts_line():
            raise cursor.wanted("the end of the line")
        nodes.append(_node(cursor, scope))
    return tuple(nodes)


def _node(cursor: Cursor, scope: _Scope) -> Node:
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


def _results(cursor: Cursor, scope: _Scope) -> list[tuple[Result, int]]:
    results: list[tuple[Result, int]] = []
    while cursor.token.kind == "ref" or cursor.at("_"):
        results.append(_result(cursor, scope))
        if not cursor.accept(","):
            cursor.expect("=")
            break
    return results


def _result(cursor: Cursor, scope: _Scope) -> tuple[Result, int]:
    token = cursor.take()
    name = cursor.spelled(token, 1) if token.kind == "ref" else None
    cursor.expect(":")
    start = cursor.token.start
    type_ = read_type(cursor)
    # one object for one text: comparing looks types up by identity
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
    kind = _one_of(cursor, EFFECTS, "an effect")
    on: list[str | int] = []
    while not (cursor.at("}") or cursor.at(",")) or (on and cursor.at(",") and cursor.after.text not in EFFECTS):
        if on:
            cursor.expect(",")
        on.append(_place(cursor, kind))
    return Effect(kind, tuple(on))


def _place(cursor: Cursor, kind: str) -> str | int:
    if cursor.token.kind == "number":
        return cursor.integer("a rank")
    if kind in ("alias", "write"):
        return cursor.spelled(cursor.expect_kind("ref", "a value such as %x"), 1)
    return read_device(cursor)


def _tags(cursor: Cursor) -> tuple[str, ...]:
    tags: list[str] = []
    while cursor.token.kind == "tag":
        tags.append(cursor.spelled(cursor.take(), 1))
    return tuple(tags)


def _return(cursor: Cursor, scope: _Scope, outer: list[_OuterType]) -> tuple[Output, ...]:
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


def _one_of(cursor: Cursor, known: tuple[str, ...], what: str) -> str:
    if cursor.token.text not in known:
        raise cursor.wanted(f"{what} ({', '.join(known)})")
    return cursor.take().text

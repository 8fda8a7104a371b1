"""Reader of types. Knows no argument and no graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.ir.read_expr import read_expr
from guard.ir.read_tensor import read_dtensor, read_subclass, read_tensor
from guard.ir.read_token import read_complex
from guard.ir.types import ListType, OpaqueType, ScalarType, UnknownType

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.lexer import Cursor
    from guard.ir.types import Type

SCALARS = frozenset(("int", "float", "bool", "str", "complex", "None", "SymInt", "SymFloat", "SymBool"))


def read_type(cursor: Cursor) -> Type:
    """Read one type, whatever it is."""
    if cursor.accept("?"):
        return UnknownType()
    token, after = cursor.token, cursor.after
    if after.text == "<" and after.kind == "op" and token.kind in ("word", "string"):
        return read_dtensor(cursor) if cursor.at("dt") else read_subclass(cursor)
    if token.kind == "word":
        if token.text in SCALARS:
            return _scalar(cursor)
        if token.text in ("list", "opaque"):
            return _nested(cursor, _list if token.text == "list" else _opaque)
        return read_tensor(cursor)
    raise cursor.wanted("a type")


def _nested(cursor: Cursor, read: Callable[[Cursor], Type]) -> Type:
    cursor.deeper()
    type_ = read(cursor)
    cursor.depth -= 1
    return type_


def _scalar(cursor: Cursor) -> ScalarType:
    if cursor.at("complex") and cursor.after.text == "(":
        return _complex(cursor)
    kind = cursor.take().text
    if not cursor.accept("("):
        return ScalarType(kind)
    value = read_scalar(cursor)
    cursor.expect(")")
    return ScalarType(kind, value)


def _complex(cursor: Cursor) -> ScalarType:
    return ScalarType("complex", read_complex(cursor))


def read_scalar(cursor: Cursor) -> Any:
    """Read a constant or a symbolic expression: the inverse of type_text.print_scalar."""
    if cursor.token.kind == "string":
        return cursor.string("a string")
    if cursor.at("complex"):
        return read_complex(cursor)
    return read_expr(cursor)


def _list(cursor: Cursor) -> ListType:
    cursor.take()
    cursor.expect("(")
    items: list[Type] = []
    while not cursor.accept(")"):
        if items:
            cursor.expect(",")
        items.append(read_type(cursor))
    return ListType(tuple(items))


def _opaque(cursor: Cursor) -> OpaqueType:
    cursor.take()
    cursor.expect("(")
    name = cursor.string("a class's name in quotes")
    cursor.expect(")")
    return OpaqueType(name)

"""Reader of pytrees: checks ``(*, {"x": *})`` and keeps its text. Knows no graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.lexer import Cursor

_CLOSE = {"(": ")", "[": "]", "{": "}"}


def read_tree(cursor: Cursor) -> str:
    """Read one pytree; return its text as it stands."""
    start = cursor.token.start
    _tree(cursor)
    return cursor.text[start : cursor.end]


def _tree(cursor: Cursor) -> None:
    if cursor.accept("*") or cursor.accept("None"):
        return
    if cursor.token.kind in ("word", "string"):
        cursor.take()
        if not cursor.at("("):
            raise cursor.wanted('"(" behind the name of a pytree node')
        _items(cursor, _item)
    elif cursor.at("{"):
        _items(cursor, _entry)
    elif cursor.at("(") or cursor.at("["):
        _items(cursor, _item)
    else:
        raise cursor.wanted("a pytree such as (*, [*])")


def _items(cursor: Cursor, read_item: Callable[[Cursor], None]) -> None:
    close = _CLOSE[cursor.take().text]
    cursor.deeper()
    while not cursor.accept(close):
        read_item(cursor)
        if not cursor.at(close):
            cursor.expect(",")
    cursor.depth -= 1


def _item(cursor: Cursor) -> None:
    """Read a subtree, or a named one: ``Point(x=*, y=*)``."""
    if cursor.token.kind == "word" and cursor.after.text == "=":
        cursor.take()
        cursor.take()
    _tree(cursor)


def _entry(cursor: Cursor) -> None:
    if cursor.token.kind not in ("string", "number") and cursor.token.text not in ("True", "False", "None"):
        raise cursor.wanted("a key: a quoted string or a number")
    cursor.take()
    cursor.expect(":")
    _tree(cursor)

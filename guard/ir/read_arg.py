"""Reader of a node's arguments: literals, tokens, references, expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.ir.expr import Symbol
from guard.ir.graph import Body, Digest, Group, Mapping, Opaque, Ref, Slice, Token
from guard.ir.literals import SHORT_DTYPES, TOKEN_KINDS
from guard.ir.read_expr import at_operator, climb, read_expr
from guard.ir.read_token import read_call_text, read_complex, read_integers

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.graph import Arg
    from guard.ir.lexer import Cursor


def read_arg(cursor: Cursor) -> Arg:
    """Read one argument. What an operator follows is an expression, even if it is spelled like a dtype (``u8 + 1``)."""
    read = _BY_KIND.get(cursor.token.kind)
    if read is not None:
        return read(cursor)
    if cursor.token.kind == "op" and cursor.token.text in "[{":
        cursor.deeper()
        arg = _list(cursor) if cursor.at("[") else _mapping(cursor)
        cursor.depth -= 1
        return arg
    if cursor.at("("):
        return read_expr(cursor)
    raise cursor.wanted("an argument")


def read_list(cursor: Cursor, close: str) -> tuple[Arg, ...]:
    """Read arguments up to and with the closing bracket."""
    items: list[Arg] = []
    while not cursor.accept(close):
        if items:
            cursor.expect(",")
        items.append(read_arg(cursor))
    return tuple(items)


def _ref(cursor: Cursor) -> Ref:
    return Ref(cursor.spelled(cursor.take(), 1))


def _body(cursor: Cursor) -> Body:
    return Body(cursor.spelled(cursor.take(), 1))


def _number(cursor: Cursor) -> Arg:
    return climb(cursor, cursor.number(cursor.take()))


def _word(cursor: Cursor) -> Arg:
    text = cursor.token.text
    if text in _WORDS:
        return _WORDS[text](cursor)
    if text in SHORT_DTYPES:
        return _dtype(cursor)
    return read_expr(cursor)


def _dtype(cursor: Cursor) -> Arg:
    text = cursor.take().text
    return climb(cursor, Symbol(text)) if at_operator(cursor) else Token("dtype", text)


def _list(cursor: Cursor) -> Arg:
    cursor.expect("[")
    return read_list(cursor, "]")


def _mapping(cursor: Cursor) -> Mapping:
    cursor.expect("{")
    items: list[tuple[str, Arg]] = []
    while not cursor.accept("}"):
        if items:
            cursor.expect(",")
        key = cursor.string("a key in quotes")
        cursor.expect(":")
        items.append((key, read_arg(cursor)))
    return Mapping(tuple(items))


def _none(cursor: Cursor) -> None:
    cursor.take()


def _token(cursor: Cursor) -> Token:
    return Token(cursor.token.text, read_call_text(cursor))


def _slice(cursor: Cursor) -> Slice:
    start = cursor.take().start
    cursor.expect("(")
    cursor.deeper()
    items = read_list(cursor, ")")
    cursor.depth -= 1
    if len(items) != 3:  # noqa: PLR2004 - start, stop, step
        raise cursor.error(f"a slice has 3 parts, got {len(items)}", start)
    return Slice(*items)


def _group(cursor: Cursor) -> Group:
    cursor.take()
    cursor.expect("(")
    return Group(read_integers(cursor, ")"))


def _quoted(cursor: Cursor, make: Callable[[str], Any]) -> Any:
    cursor.take()
    cursor.expect("(")
    text = cursor.string("a quoted string")
    cursor.expect(")")
    return make(text)


_BY_KIND: dict[str, Callable[[Cursor], Arg]] = {
    "ref": _ref,
    "at": _body,
    "number": _number,
    "string": lambda cursor: cursor.string("a string"),
    "word": _word,
}
_WORDS: dict[str, Callable[[Cursor], Arg]] = {
    "None": _none,
    "complex": read_complex,
    "slice": _slice,
    "group": _group,
    "opaque": lambda cursor: _quoted(cursor, Opaque),
    "digest": lambda cursor: _quoted(cursor, Digest),
    **dict.fromkeys(TOKEN_KINDS, _token),
}

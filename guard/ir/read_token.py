"""Reader of what types and arguments share: dtypes, devices, lists of integers, complex numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.literals import SHORT_DTYPES
from guard.ir.ranks import read_ranks
from guard.ir.read_expr import read_expr

if TYPE_CHECKING:
    from guard.ir.lexer import Cursor


def read_dtype(cursor: Cursor) -> str:
    """Read ``f32`` or ``dtype(quint8)``."""
    if cursor.at("dtype"):
        return read_call_text(cursor)
    if cursor.token.kind == "word" and cursor.token.text in SHORT_DTYPES:
        return cursor.take().text
    raise cursor.wanted("a dtype such as f32")


def read_call_text(cursor: Cursor) -> str:
    """Read ``layout(strided)``, at its first word; return what stands between the parentheses."""
    cursor.take()
    cursor.expect("(")
    text = read_device(cursor, "a name")
    cursor.expect(")")
    return text


def read_device(cursor: Cursor, what: str = "a device such as cuda:0") -> str:
    """Read ``cpu``, ``cuda:0`` or a quoted one."""
    text = cursor.name(what)
    if cursor.at(":"):
        cursor.take()
        text += f":{cursor.integer('the number of a device')}"
    return text


def read_integers(cursor: Cursor, close: str) -> tuple[int, ...]:
    """Read integers, or slices of ranks, up to and with the closing bracket."""
    values: list[int] = []
    while not cursor.accept(close):
        if values:
            cursor.expect(",")
        values += read_ranks(cursor)
    return tuple(values)


def read_complex(cursor: Cursor) -> complex:
    """Read ``complex(1.0, -0.0)``, at its name."""
    cursor.take()
    cursor.expect("(")
    real = _part(cursor)
    cursor.expect(",")
    imaginary = _part(cursor)
    cursor.expect(")")
    return complex(real, imaginary)


def _part(cursor: Cursor) -> float:
    start = cursor.token.start
    value = read_expr(cursor)
    if type(value) is not float:
        raise cursor.error("wanted a float such as 1.0", start)
    return value

"""Reader of tensors' types, plain and wrapped: ``f32[4]{1}+8@cuda:0``, ``dt<...> local f32[4]``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.ir.read_expr import read_dims, read_parentheses, read_symbol
from guard.ir.read_token import read_call_text, read_dtype, read_integers
from guard.ir.type_text import PLACEMENT
from guard.ir.types import DTensorType, Mesh, SubclassType, TensorType

if TYPE_CHECKING:
    from guard.ir.lexer import Cursor
    from guard.ir.types import Dim


def read_tensor(cursor: Cursor) -> TensorType:
    """Read ``f32[4, s0]{s0, 1}+8@cuda:0 layout(sparse_coo) requires_grad``; dtype and shape are always there."""
    dtype = read_dtype(cursor)
    cursor.expect("[")
    shape = read_dims(cursor, "]")
    stride = read_dims(cursor, "}") if cursor.accept("{") else None
    offset = _offset(cursor) if cursor.accept("+") else 0
    device = cursor.spelled(cursor.take(), 1) if cursor.token.kind == "at" else None
    layout = read_call_text(cursor) if cursor.at("layout") else None
    return TensorType(dtype, shape, stride, offset, device, cursor.accept("requires_grad"), layout)


def _offset(cursor: Cursor) -> Dim:
    start = cursor.token.start
    if cursor.at("("):
        offset = read_parentheses(cursor)
    elif cursor.token.kind == "number":
        offset = cursor.integer("an offset in elements")
    else:
        offset = _symbol(cursor)
    if isinstance(offset, (bool, float)):
        raise cursor.error(f'wanted an offset in elements, got "{offset}"', start)
    return offset


def _symbol(cursor: Cursor) -> Dim:
    if cursor.token.kind != "word":
        raise cursor.wanted("an offset in elements")
    return read_symbol(cursor)


def read_dtensor(cursor: Cursor) -> DTensorType:
    """Read ``dt<f32[8, 4], mesh(2), [S(0)]> local f32[4, 4]``, at its first word."""
    cursor.take()
    cursor.expect("<")
    full = _outer(cursor)
    cursor.expect(",")
    mesh = _mesh(cursor)
    cursor.expect(",")
    placements = _placements(cursor)
    cursor.expect(">")
    cursor.expect("local")
    local, full = _local(cursor, full)
    return DTensorType(full, mesh, placements, local)


def read_subclass(cursor: Cursor) -> SubclassType:
    """Read ``TwoTensor<f32[3, 4]>.a of f32[3, 4]``."""
    name = cursor.name("a class's name")
    cursor.expect("<")
    full = _outer(cursor)
    cursor.expect(">")
    attribute = cursor.spelled(cursor.expect_kind("attribute", "the attribute that holds the tensor"), 1)
    cursor.expect("of")
    local, full = _local(cursor, full)
    return SubclassType(name, full, attribute, local)


def _outer(cursor: Cursor) -> TensorType:
    full = read_tensor(cursor)
    if full.requires_grad:
        raise cursor.error("requires_grad of a subclass stands behind the whole type", cursor.end)
    return full


def _local(cursor: Cursor, full: TensorType) -> tuple[TensorType, TensorType]:
    """Read the inner tensor; requires_grad behind it is the wrapper's, within parentheses its own."""
    if cursor.accept("("):
        local = read_tensor(cursor)
        cursor.expect(")")
        grad = cursor.accept("requires_grad")
    else:
        local = read_tensor(cursor)
        grad = local.requires_grad
        local = replace(local, requires_grad=False)
    return local, replace(full, requires_grad=grad)


def _mesh(cursor: Cursor) -> Mesh:
    cursor.expect("mesh")
    cursor.expect("(")
    shape: list[int] = []
    ranks = None
    while not cursor.at(")"):
        if shape or ranks is not None:
            cursor.expect(",")
        if cursor.accept("ranks"):
            cursor.expect("=")
            cursor.expect("[")
            ranks = read_integers(cursor, "]")
            break
        shape.append(cursor.integer("a mesh dimension"))
    cursor.expect(")")
    return Mesh(tuple(shape), ranks)


def _placements(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("[")
    items: list[str] = []
    while not cursor.accept("]"):
        if items:
            cursor.expect(",")
        items.append(_placement(cursor))
    return tuple(items)


def _placement(cursor: Cursor) -> str:
    if cursor.token.kind == "string":
        return cursor.string("a placement")
    start = cursor.token.start
    text = cursor.expect_kind("word", "a placement such as R or S(0)").text
    if cursor.accept("("):
        text += f"({cursor.take().text})"
        cursor.expect(")")
    if not PLACEMENT.fullmatch(text):
        raise cursor.error(f'wanted a placement such as R or S(0), got "{text}"', start)
    return text

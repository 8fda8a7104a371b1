"""Reader of types. Knows no argument and no graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.ir.literals import SHORT_DTYPES
from guard.ir.read_expr import read_dims, read_expr, read_parentheses, read_symbol
from guard.ir.type_text import PLACEMENT
from guard.ir.types import DTensorType, ListType, Mesh, OpaqueType, ScalarType, SubclassType, TensorType, UnknownType

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.lexer import Cursor
    from guard.ir.types import Dim, Type

SCALARS = frozenset(("int", "float", "bool", "str", "complex", "None", "SymInt", "SymFloat", "SymBool"))


def read_type(cursor: Cursor) -> Type:
    """Read one type, whatever it is."""
    if cursor.accept("?"):
        return UnknownType()
    token, after = cursor.token, cursor.after
    if after.text == "<" and after.kind == "op" and token.kind in ("word", "string"):
        return _dtensor(cursor) if cursor.at("dt") else _subclass(cursor)
    if token.kind == "word":
        if token.text in SCALARS:
            return _scalar(cursor)
        if token.text in ("list", "opaque"):
            return _nested(cursor, _list if token.text == "list" else _opaque)
        return _tensor(cursor)
    raise cursor.wanted("a type")


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
    """Read integers up to and with the closing bracket."""
    values: list[int] = []
    while not cursor.accept(close):
        if values:
            cursor.expect(",")
        values.append(cursor.integer("an integer"))
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


def _nested(cursor: Cursor, read: Callable[[Cursor], Type]) -> Type:
    cursor.deeper()
    type_ = read(cursor)
    cursor.depth -= 1
    return type_


def _tensor(cursor: Cursor) -> TensorType:
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


def _dtensor(cursor: Cursor) -> DTensorType:
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


def _subclass(cursor: Cursor) -> SubclassType:
    name = cursor.name("a class's name")
    cursor.expect("<")
    full = _outer(cursor)
    cursor.expect(">")
    attribute = cursor.spelled(cursor.expect_kind("attribute", "the attribute that holds the tensor"), 1)
    cursor.expect("of")
    local, full = _local(cursor, full)
    return SubclassType(name, full, attribute, local)


def _outer(cursor: Cursor) -> TensorType:
    full = _tensor(cursor)
    if full.requires_grad:
        raise cursor.error("requires_grad of a subclass stands behind the whole type", cursor.end)
    return full


def _local(cursor: Cursor, full: TensorType) -> tuple[TensorType, TensorType]:
    """Read the inner tensor; requires_grad behind it is the wrapper's, within parentheses its own."""
    if cursor.accept("("):
        local = _tensor(cursor)
        cursor.expect(")")
        grad = cursor.accept("requires_grad")
    else:
        local = _tensor(cursor)
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

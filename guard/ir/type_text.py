"""Text of types: ``f32[4, s0]{s0, 1}+8@cuda:0 requires_grad``. Knows no graph."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.ir.expr import Symbol
from guard.ir.expr_text import print_expr
from guard.ir.literals import complex_number, device, dtype, quote, word
from guard.ir.ranks import print_ranks
from guard.ir.types import DTensorType, ListType, OpaqueType, ScalarType, SubclassType, TensorType, UnknownType

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.types import Dim, Mesh, Type

PLACEMENT = re.compile(r"R|S\(-?[0-9]+\)|P\([a-z]+\)")


def print_type(type_: Type) -> str:
    """Print one type on one line."""
    return _TEXT[type(type_)](type_)


def print_dims(dims: tuple[Dim, ...]) -> str:
    """Print a shape or stride without its brackets."""
    return ", ".join([str(dim) if type(dim) is int else print_expr(dim) for dim in dims])


def print_mesh(mesh: Mesh) -> str:
    """Print ``mesh(2, 4)``; the ranks only where they do not count from 0."""
    parts = [str(size) for size in mesh.shape]
    if mesh.ranks is not None:
        parts.append(f"ranks=[{print_ranks(mesh.ranks)}]")
    return f"mesh({', '.join(parts)})"


def print_scalar(value: Any) -> str:
    """Print a constant or a symbolic expression."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, complex):
        return complex_number(value)
    return repr(value) if value is None else print_expr(value)


def _tensor(type_: TensorType) -> str:
    text = f"{dtype(type_.dtype)}[{print_dims(type_.shape)}]"
    if type_.stride is not None:
        text += f"{{{print_dims(type_.stride)}}}"
    if type_.offset != 0:
        text += f"+{_offset(type_.offset)}"
    if type_.device is not None:
        text += f"@{device(type_.device)}"
    if type_.layout is not None:
        text += f" layout({device(type_.layout)})"
    return text + " requires_grad" if type_.requires_grad else text


def _offset(offset: Dim) -> str:
    text = print_expr(offset)
    return text if type(offset) is Symbol or text.isdecimal() else f"({text})"


def _scalar(type_: ScalarType) -> str:
    if type_.value is None:
        return type_.kind
    if type_.kind == "complex" and isinstance(type_.value, complex):
        return complex_number(type_.value)
    return f"{type_.kind}({print_scalar(type_.value)})"


def _dtensor(type_: DTensorType) -> str:
    full, grad = _outer(type_.full)
    placements = ", ".join(text if PLACEMENT.fullmatch(text) else quote(text) for text in type_.placements)
    return f"dt<{full}, {print_mesh(type_.mesh)}, [{placements}]> local {_inner(type_.local)}{grad}"


def _subclass(type_: SubclassType) -> str:
    full, grad = _outer(type_.full)
    return f"{word(type_.name)}<{full}>.{word(type_.attribute)} of {_inner(type_.local)}{grad}"


def _outer(full: TensorType) -> tuple[str, str]:
    """Print the wrapper, whose requires_grad goes behind the whole: that is where one looks for it."""
    if full.requires_grad:
        return _tensor(replace(full, requires_grad=False)), " requires_grad"
    return _tensor(full), ""


def _inner(local: TensorType) -> str:
    return f"({_tensor(local)})" if local.requires_grad else _tensor(local)


def _list(type_: ListType) -> str:
    return f"list({', '.join(map(print_type, type_.items))})"


_TEXT: dict[type, Callable[[Any], str]] = {
    TensorType: _tensor,
    ScalarType: _scalar,
    DTensorType: _dtensor,
    SubclassType: _subclass,
    ListType: _list,
    OpaqueType: lambda type_: f"opaque({quote(type_.name)})",
    UnknownType: lambda _: "?",
}

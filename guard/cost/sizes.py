"""Bytes that values of a type take. Pure; knows no operator."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from guard.cost.amount import TooLargeError, amount
from guard.ir.types import DTensorType, ListType, SubclassType, TensorType, UnknownType

if TYPE_CHECKING:
    from guard.cost.amount import Amount
    from guard.ir.types import Type

# DTYPES' short names end in their bits, but for the eight-bit floats: f8e4m3fn
_BITS = re.compile(r"(?:bf|[bcfiu])(8|16|32|64|128)(?:e\d+m\d+\w*)?")


def itemsize(dtype: str) -> int | None:
    """Return a dtype's bytes an element; None where its name does not tell."""
    found = _BITS.fullmatch(dtype)
    return None if found is None else int(found[1]) // 8


def local(type_: Type) -> Type:
    """Return what the graph computes with: of a DTensor or another subclass its inner tensor."""
    return type_.local if isinstance(type_, (DTensorType, SubclassType)) else type_


class Sizes:
    """Bytes of types; lowering and reading intern types, so that identity finds most."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Type, Amount | None]] = {}

    def of(self, type_: Type) -> Amount | None:
        """Return the bytes that a value takes in memory; None where its type does not tell."""
        found = self._known.get(id(type_))
        if found is None:
            # the type is kept, so that no other can have its id
            found = self._known[id(type_)] = (type_, _counted(type_))
        return found[1]


def _counted(type_: Type) -> Amount | None:
    try:
        return _bytes(local(type_))
    except TooLargeError:
        return None


def _bytes(type_: Type) -> Amount | None:
    if type(type_) is TensorType:
        return _tensor(type_)
    if type(type_) is ListType:
        items = [_bytes(local(item)) for item in type_.items]
        known = [item for item in items if item is not None]
        return sum(known) if len(known) == len(items) else None
    return None if type(type_) is UnknownType else 0


def _tensor(type_: TensorType) -> Amount | None:
    """Count each element in memory once: a dimension of stride 0 repeats the same ones."""
    size = itemsize(type_.dtype)
    if size is None or type_.layout is not None:
        return None
    total: Amount = size
    for dim, stride in zip_longest(type_.shape, type_.stride or (), fillvalue=1):
        if stride != 0:
            total = total * amount(dim)
        elif dim == 0:
            return 0
    return total

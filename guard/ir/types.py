"""Types of values: what is known of a tensor, a number or a subclass without its data. Knows no torch and no graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from guard.ir.expr import Expr

    Dim: TypeAlias = "int | Expr"

# torch's dtype name -> the short name that print_readable uses too (torch/utils/_dtype_abbrs.py). Others print in full.
DTYPES = {
    "bfloat16": "bf16",
    "bool": "b8",
    "complex128": "c128",
    "complex32": "c32",
    "complex64": "c64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2": "f8e5m2",
    "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0fnu",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "int8": "i8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "uint8": "u8",
}


@dataclass(frozen=True, slots=True)
class TensorType:
    """A plain tensor: ``f32[4, s0]{s0, 1}+8@cuda:0 requires_grad``."""

    dtype: str
    """Short name of DTYPES, or torch's full name."""
    shape: tuple[Dim, ...]
    """In elements."""
    stride: tuple[Dim, ...] | None = None
    """In elements; None is contiguous, where dimensions of size <= 1 do not count."""
    offset: Dim = 0
    """Into the storage, in elements."""
    device: str | None = None
    """None is the graph's device."""
    requires_grad: bool = False
    """Only inputs and outputs carry it."""
    layout: str | None = None
    """None is strided; else torch's name, such as ``sparse_coo``."""


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A value that is no tensor: ``int(3)``, ``float``, ``None``, ``SymInt(2*s0)``."""

    kind: str
    """One of int, float, bool, str, complex, None, SymInt, SymFloat, SymBool."""
    value: Expr | complex | str | bool | None = None
    """The specialized constant, or a Sym's expression; None is not known."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """A device mesh by value: ``mesh(2, 4)``, or ``mesh(2, ranks=[1, 3])`` where the ranks do not count from 0."""

    shape: tuple[int, ...]
    ranks: tuple[int, ...] | None = None
    """Row-major; None is 0, 1, 2, ..."""


@dataclass(frozen=True, slots=True)
class DTensorType:
    """The DTensor that the user sees, and the local tensor that the graph computes with.

    Text: ``dt<f32[8, 4], mesh(2), [S(0)]> local f32[4, 4]``. ``requires_grad`` is that of the DTensor.
    """

    full: TensorType
    """Global shape and stride."""
    mesh: Mesh
    placements: tuple[str, ...]
    """One a mesh dimension: R, S(0), P(sum), or torch's own text of a placement that is none of these."""
    local: TensorType
    """This rank's shard."""


@dataclass(frozen=True, slots=True)
class SubclassType:
    """One inner tensor of another traceable subclass: ``TwoTensor<f32[3, 4]>.a of f32[3, 4]``."""

    name: str
    """The class's name."""
    full: TensorType
    """Of the wrapper."""
    attribute: str
    """The attribute that holds this inner tensor; dotted where subclasses nest."""
    local: TensorType


@dataclass(frozen=True, slots=True)
class ListType:
    """A list of values that no getitem took apart: ``list(f32[2], f32[3])``."""

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """An object that is known by its class alone: ``opaque("RandomObject")``."""

    name: str


@dataclass(frozen=True, slots=True)
class UnknownType:
    """Metadata that the tracer did not leave: ``?``."""


Type: TypeAlias = "TensorType | ScalarType | DTensorType | SubclassType | ListType | OpaqueType | UnknownType"

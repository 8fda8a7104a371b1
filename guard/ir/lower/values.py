"""Types of values: tensors, SymInts, DTensors and numbers -> guard.ir.types, each distinct type one object."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.passes.shape_prop import TensorMetadata
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.ir.lower.symbols import Symbols, UnknownExpressionError
from guard.ir.types import DTYPES, ListType, OpaqueType, ScalarType, TensorType, Type, UnknownType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.ir.types import Dim

UNKNOWN = UnknownType()
NONE = ScalarType("None")
_SYMS = {torch.SymInt: "SymInt", torch.SymFloat: "SymFloat", torch.SymBool: "SymBool"}
_DTYPE_NAMES = {
    dtype: DTYPES.get(name, name)
    for name, dtype in ((str(d).removeprefix("torch."), d) for d in vars(torch).values() if isinstance(d, torch.dtype))
}


def dtype_name(dtype: torch.dtype) -> str:
    """Short name: f32, i64, b8; torch's full name for one that has none."""
    known = _DTYPE_NAMES.get(dtype)
    return known if known is not None else str(dtype).removeprefix("torch.")


def device_name(device: torch.device) -> str:
    """``cpu``, ``cuda:1``; index 0 is left out, since fake and real tensors disagree on it."""
    return device.type if device.index in {None, 0} else f"{device.type}:{device.index}"


class Types:
    """Types of one graph: interned, so that the printer can cache their text by identity."""

    def __init__(self, symbols: Symbols, device: str = "cpu") -> None:
        self.symbols = symbols
        self.device = device
        self.mixed = False
        """A value on another device than the graph's has been met: from then on each value's own is read."""
        self._static: dict[Any, TensorType] = {}
        self.here: dict[Any, TensorType] = {}
        """By shape, dtype, requires_grad and stride: what can only be on the graph's device and begin its storage."""
        self._interned: dict[Type, Type] = {}

    def of_node(self, node: torch.fx.Node, *, offset: bool = False) -> Type:
        """Type of an fx node's value; ``offset`` asks for the storage offset (only views can have one)."""
        return self.of_meta(node.meta, offset=offset)

    def seen_of(self, node: torch.fx.Node, *, offset: bool = False) -> Type:
        """As of_node, with the outer type of a wrapper subclass that the graph computes with as it is (MakeFx)."""
        value = node.meta.get("val")
        wrapped = isinstance(value, torch.Tensor) and is_traceable_wrapper_subclass(value)
        return self.of(value) if wrapped else self.of_node(node, offset=offset)

    def of_shape(self, meta: dict[str, Any]) -> Type:
        """Type of what can only be on the graph's device and begin its storage, without a look at the value itself.

        The value is a FakeTensor, far away in memory: to read its device is a third of what a node's type costs.
        """
        tensor: Any = meta.get("tensor_meta")
        if type(tensor) is not TensorMetadata:
            return self.of_meta(meta)
        found = self.of_meta(meta)
        with contextlib.suppress(TypeError):  # symbolic sizes have no hash
            if isinstance(found, TensorType) and found.device is None:
                self.here[tensor[:4]] = found
        return found

    def of_meta(self, meta: dict[str, Any], *, offset: bool = False) -> Type:
        """Type by a node's meta: by ``tensor_meta`` where it is, since reading a FakeTensor costs ten times as much."""
        value = meta.get("val")
        tensor: Any = meta.get("tensor_meta")
        if type(tensor) is not TensorMetadata:
            return self.of(value, offset=offset) if "val" in meta else UNKNOWN
        try:
            start = value.storage_offset() if offset and value is not None else 0
            # (shape, dtype, requires_grad, stride): the head of TensorMetadata
            key = (tensor[:4], getattr(value, "fake_device", None), start)
            known = self._static.get(key)
        except (TypeError, AttributeError, NotImplementedError):  # symbolic sizes have no hash, sparse has no offset
            return self._tensor(tensor, value, offset=offset)
        if known is None:
            known = self._static[key] = self._tensor(tensor, value, offset=offset)
        return known

    def of(self, value: Any, *, offset: bool = True, requires_grad: bool = False) -> Type:
        """Type of any value; a tensor's requires_grad is kept where asked for."""
        if isinstance(value, torch.Tensor):
            return self._of_tensor(value, offset=offset, requires_grad=requires_grad and value.requires_grad)
        if type(value) in _SYMS:
            return self._interned_type(ScalarType(_SYMS[type(value)], self._sym(value)))
        if value is None:
            return NONE
        if isinstance(value, (bool, int, float, complex, str)):
            return self._interned_type(ScalarType(type(value).__name__, value))
        if isinstance(value, (list, tuple)):
            return ListType(tuple(self.of(item, offset=offset) for item in value))
        return OpaqueType(type_name(value))

    def _sym(self, value: Any) -> Any:
        try:
            return (
                self.symbols.dim(value)
                if type(value) is torch.SymInt
                else self.symbols.expr(value.node._expr, value.node.shape_env)
            )
        except UnknownExpressionError:
            return None

    def _of_tensor(self, value: torch.Tensor, *, offset: bool, requires_grad: bool) -> Type:
        from guard.ir.lower.subclasses import outer_type

        outer = outer_type(self, value, requires_grad=requires_grad)
        return outer if outer is not None else self._tensor(value, value, offset=offset, requires_grad=requires_grad)

    def _tensor(self, shaped: Any, value: Any, *, offset: bool = False, requires_grad: bool = False) -> TensorType:
        """Type from anything with dtype, shape and stride (a TensorMetadata or a tensor), the rest from the value."""
        layout = getattr(value, "layout", torch.strided)
        strided = layout == torch.strided
        device = getattr(value, "device", None)
        name = device_name(device) if device is not None else self.device
        self.mixed = self.mixed or name != self.device
        found = TensorType(
            dtype=dtype_name(shaped.dtype),
            shape=self.dims(shaped.shape),
            stride=self._stride(shaped) if strided else None,
            offset=self._offset(value) if offset and strided else 0,
            device=None if name == self.device else name,
            requires_grad=requires_grad,
            layout=None if strided else str(layout).removeprefix("torch."),
        )
        return self._interned.setdefault(found, found)  # type: ignore[return-value]

    def dims(self, sizes: Sequence[Any]) -> tuple[Dim, ...]:
        """Sizes or strides; -1 is not a size and stands for an expression outside the closed set."""
        return tuple(size if type(size) is int else self._dim(size) for size in sizes)

    def _dim(self, size: Any) -> Dim:
        try:
            return self.symbols.dim(size)
        except UnknownExpressionError:
            return -1

    def _stride(self, shaped: Any) -> tuple[Dim, ...] | None:
        stride = shaped.stride() if callable(shaped.stride) else shaped.stride
        if not stride:
            return None
        shape, strides = self.dims(shaped.shape), self.dims(stride)
        return None if _contiguous(shape, strides, self.symbols, shaped.shape) else strides

    def _offset(self, value: Any) -> Dim:
        return self._dim(value.storage_offset()) if isinstance(value, torch.Tensor) else 0

    def _interned_type(self, found: ScalarType) -> ScalarType:
        # True == 1 == 1.0: only types whose values are expressions or equal in kind may share an object
        return self._interned.setdefault((found.kind, repr(found.value)), found)  # type: ignore[arg-type, return-value]


def type_name(value: Any) -> str:
    """An opaque object's class, without its module path's version of the day."""
    if isinstance(value, torch.ScriptObject):
        return str(value._type().name())
    script = getattr(value, "script_class_name", None)
    return script if isinstance(script, str) else type(value).__name__


def _contiguous(shape: Sequence[Dim], stride: Sequence[Dim], symbols: Symbols, sizes: Sequence[Any]) -> bool:
    """Row-major, where dimensions of size <= 1 do not count (a channels_last tensor with C=1 is contiguous)."""
    if any(type(size) is int and size == 0 for size in shape):
        return True
    if all(type(size) is int for size in shape):
        expected: Any = 1
        for size, step in zip(reversed(shape), reversed(stride), strict=True):
            if size != 1 and step != expected:
                return False
            expected *= size
        return True
    return _symbolically_contiguous(shape, stride, symbols, sizes)


def _symbolically_contiguous(
    shape: Sequence[Dim], stride: Sequence[Dim], symbols: Symbols, sizes: Sequence[Any]
) -> bool:
    # products are built from torch's own expressions: sympy multiplies, guard's Expr only prints
    import sympy

    expected = sympy.Integer(1)
    for size, known, step in zip(reversed(sizes), reversed(shape), reversed(stride), strict=True):
        if known != 1 and symbols.expr(expected) != step:
            return False
        expected *= size if type(size) is int else size.node.expr
    return True

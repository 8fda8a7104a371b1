"""Tensors that a program may write to: each storage is copied once, each tensor's own part noted, both put back.

FakeTensors and meta tensors have no data; wrapper subclasses (DTensor) have it in their inner tensors.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.tracers.data import has_data

_ABSENT = object()


class SavedTensors:
    """What tensors were. Add and restore with modes off."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._tensors: list[_Tensor] = []
        self._storages: dict[int, _Storage] = {}

    def add(self, tensor: Any) -> None:
        """Note a tensor, its gradient and its inner tensors; each object and each storage once."""
        if id(tensor) in self._seen:
            return
        self._seen.add(id(tensor))
        saved = _Tensor.of(tensor)
        self._tensors.append(saved)
        if saved.grad is not None:
            self.add(saved.grad)
        inner = _inner(tensor)
        for part in (*inner, *_parts(tensor)):
            self.add(part)
        if not inner:
            self._add_data(tensor)

    def _add_data(self, tensor: Any) -> None:
        storage = _storage(tensor)
        if storage is not None and storage._cdata not in self._storages:
            self._storages[storage._cdata] = _Storage.of(storage)

    def restore(self) -> None:
        """Put data back where it differs, then each tensor's own part where that does."""
        for storage in self._storages.values():
            storage.restore()
        for tensor in self._tensors:
            tensor.restore()


@dataclass(frozen=True)
class _Storage:
    storage: Any
    size: int
    """In bytes."""
    data: torch.Tensor

    @classmethod
    def of(cls, storage: Any) -> _Storage:
        return cls(storage, storage.nbytes(), _bits(storage).clone())

    def restore(self) -> None:
        if self.storage.nbytes() != self.size:
            self.storage.resize_(self.size)
        now = _bits(self.storage)
        # compared first: memory that numpy or a file lent may be read-only
        if not torch.equal(now, self.data):
            now.copy_(self.data)


def _bits(storage: Any) -> torch.Tensor:
    """View a storage as integers, wide ones where that fits: they compare 3 times faster than bytes."""
    dtype = torch.uint8 if storage.nbytes() % 8 else torch.int64
    view: torch.Tensor = torch.empty(0, dtype=dtype, device=storage.device).set_(storage)
    return view


@dataclass(frozen=True)
class _Tensor:
    tensor: Any
    alias: Any
    """A second tensor of the same storage, shape and stride, to set the first back to; None where there is none."""
    layout: Any
    is_leaf: bool
    requires_grad: bool
    grad: Any
    attributes: dict[str, Any]
    slots: dict[str, Any]

    @classmethod
    def of(cls, tensor: Any) -> _Tensor:
        layout = _layout(tensor)
        return cls(
            tensor,
            None if layout is None else tensor.detach(),
            layout,
            tensor.is_leaf,
            tensor.requires_grad,
            tensor.grad if tensor.is_leaf else None,  # asking another for it warns
            dict(tensor.__dict__),
            _slots(tensor),
        )

    def restore(self) -> None:
        tensor = self.tensor
        for name, value in self.slots.items():
            if getattr(tensor, name, _ABSENT) is not value:
                setattr(tensor, name, value)
        if self.is_leaf:
            self._restore_autograd()
        if self.alias is not None and _layout(tensor) != self.layout:
            tensor.data = self.alias
        # not compared first: an attribute may be a tensor, and cannot be asked whether it equals another
        tensor.__dict__.clear()
        tensor.__dict__.update(self.attributes)

    def _restore_autograd(self) -> None:
        """Cut a leaf loose from a graph that was written into it."""
        tensor = self.tensor
        if not tensor.is_leaf:
            _detach(tensor)
        if tensor.is_leaf and tensor.requires_grad != self.requires_grad:
            tensor.requires_grad_(self.requires_grad)
        if tensor.is_leaf and tensor.grad is not self.grad:
            tensor.grad = self.grad


def _detach(tensor: Any) -> None:
    """Detach in place. A view cannot be: give its Python object another tensor of the same storage."""
    if not tensor._is_view():
        tensor.detach_()
        return
    with contextlib.suppress(RuntimeError):  # the program's graph still holds the tensor
        torch._C._swap_tensor_impl(tensor, tensor.detach())


def _inner(tensor: Any) -> list[Any]:
    if not is_traceable_wrapper_subclass(tensor):
        return []
    names, _ = tensor.__tensor_flatten__()
    parts = (getattr(tensor, name) for name in names)
    return [part for part in parts if isinstance(part, torch.Tensor)]  # an opaque part is a DeviceMesh (torch >= 2.13)


def _parts(tensor: Any) -> tuple[Any, ...]:
    """Plain tensors that hold the data of a sparse tensor, or of a nested one without a class of its own."""
    special = tensor.is_nested or tensor.layout in _PARTS
    if not special or is_traceable_wrapper_subclass(tensor) or not has_data(tensor):
        return ()
    names = ("values",) if tensor.is_nested else _PARTS[tensor.layout]
    return tuple(getattr(tensor, name)() for name in names)


_ROWS, _COLUMNS = ("crow_indices", "col_indices", "values"), ("ccol_indices", "row_indices", "values")
_PARTS = {
    torch.sparse_coo: ("_indices", "_values"), torch.sparse_csr: _ROWS, torch.sparse_bsr: _ROWS,
    torch.sparse_csc: _COLUMNS, torch.sparse_bsc: _COLUMNS,
}  # fmt: skip


def _slots(tensor: Any) -> dict[str, Any]:
    """Read a subclass's slots: DTensor keeps its local tensor and its placements there."""
    names = [name for kind in type(tensor).__mro__ for name in _own_slots(kind)]
    found = {name: getattr(tensor, name, _ABSENT) for name in names}
    return {name: value for name, value in found.items() if value is not _ABSENT}


def _own_slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _has_data(tensor: Any) -> bool:
    return tensor.layout is torch.strided and not (
        isinstance(tensor, FakeTensor)
        or tensor.is_meta
        or torch._is_functional_tensor(tensor)
        or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def _storage(tensor: Any) -> Any:
    if not _has_data(tensor) or tensor.is_nested:
        return None
    storage = tensor.untyped_storage()
    try:
        # a wrapper without __tensor_flatten__ (MaskedTensor) names bytes that are nowhere: to read them is a crash
        return storage if storage.data_ptr() or not storage.nbytes() else None
    except RuntimeError:  # torch says so itself: an invalid python storage
        return None


def _layout(tensor: Any) -> Any:
    """Say where a tensor looks in which storage, and how; None for what cannot be set back (nested, wrappers)."""
    if is_traceable_wrapper_subclass(tensor) or tensor.is_nested:
        return None
    if tensor.layout is not torch.strided:
        # an operator in place may give it other parts
        parts = tuple((tuple(part.shape), part.untyped_storage()._cdata) for part in _parts(tensor))
        return (
            (parts, tuple(tensor.shape), tensor.layout is torch.sparse_coo and tensor.is_coalesced()) if parts else None
        )
    storage = tensor.untyped_storage()._cdata
    return (tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(), tensor.dtype, storage)

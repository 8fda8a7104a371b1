"""Tensors that a graph carries as attributes: small ones by value, large ones by digest, fake ones without bytes."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.ir.digest import digest_text
from guard.ir.graph import Arg, Digest

if TYPE_CHECKING:
    from collections.abc import Iterator

INLINE = 64  # elements that print in full: enough for shape tables and small masks, still one readable line
NO_BYTES = Digest("no-bytes")


def constant_arg(tensor: torch.Tensor) -> Arg:
    """Value or digest of a constant. Call with the user's modes off: it reads data."""
    if is_traceable_wrapper_subclass(tensor):
        names, _ = tensor.__tensor_flatten__()
        parts = (getattr(tensor, name) for name in names)  # torch >= 2.13 counts a DTensor's mesh among them
        return tuple(constant_arg(part) for part in parts if isinstance(part, torch.Tensor))
    if isinstance(tensor, torch._subclasses.FakeTensor) or tensor.device.type == "meta":
        return NO_BYTES
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return NO_BYTES  # make_fx with pre_dispatch lets one out of vmap, whose level is gone: nothing can read it
    if tensor.layout != torch.strided or tensor.is_quantized:
        return Digest(f"layout:{tensor.layout}".replace("torch.", ""))
    plain = _plain(tensor)
    if plain.numel() <= INLINE and plain.dtype in _LISTED:
        return _nested(plain.tolist())
    return Digest(digest_text(_chunks(plain)))


def bytes_of(tensor: torch.Tensor) -> bytes:
    """The bytes that the digest of a constant stands for: row-major, as its dtype lies in memory."""
    return b"".join(_chunks(_plain(tensor)))


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()


_LISTED = {
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128,
}  # fmt: skip


def _nested(values: object) -> Arg:
    return tuple(_nested(v) for v in values) if isinstance(values, list) else values  # type: ignore[return-value]


def _chunks(plain: torch.Tensor, size: int = 1 << 24) -> Iterator[bytes]:
    # by address, since numpy need not be there and has no bfloat16
    total, start = plain.numel() * plain.element_size(), plain.data_ptr()
    for offset in range(0, total, size):
        yield ctypes.string_at(start + offset, min(size, total - offset))

"""Tangents: what each differentiated output is weighed by, drawn anew for each from one seed."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

_SEED = 20_000


def drawn(like: Any, index: int) -> torch.Tensor:
    """Draw a tangent of an output's class, dtype and shape. Take it with modes off."""
    if not is_traceable_wrapper_subclass(like):
        return plain(like.shape, like.dtype, like.device, index)
    names, context = like.__tensor_flatten__()
    parts = {name: getattr(like, name) for name in names}
    inner = {name: drawn(part, index) if isinstance(part, torch.Tensor) else part for name, part in parts.items()}
    return rebuilt(like, inner, context)


def plain(shape: Any, dtype: torch.dtype, device: torch.device, index: int) -> torch.Tensor:
    """Draw a plain tensor, the same on every device."""
    generator = torch.Generator().manual_seed(_SEED + index)
    wide = torch.complex64 if dtype.is_complex else torch.float32
    return torch.randn(tuple(shape), dtype=wide, generator=generator).to(device=device, dtype=dtype)


def rebuilt(like: Any, inner: dict[str, Any], context: Any) -> torch.Tensor:
    """A wrapper subclass as ``like``, around other inner tensors."""
    found: torch.Tensor = type(like).__tensor_unflatten__(inner, context, like.shape, like.stride())
    return found

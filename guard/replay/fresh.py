"""Other values in the same tensors: floats drawn from the range of the example's, integers permuted, bools kept.

In place, so that views, ties and what a program closes over stay what they are; the isolation puts the example back.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.tracers.data import has_data, inner_tensors

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEED = 10_000
_NUDGE = 0.25
"""Of a parameter: it keeps its sign and its size, since a program may need both."""


def redraw(tensors: Iterable[Any], *, integers: bool) -> None:
    """Give each argument other values. Call with modes off.

    Args:
        tensors: of the arguments; DTensors by their local tensor.
        integers: whether to permute integers, too: those that are offsets or lengths do not bear it.
    """
    generator = torch.Generator().manual_seed(_SEED)
    for tensor in _plain(tensors):
        elements = _distinct(tensor)
        if elements is None or not elements.numel():
            continue
        new = _other(elements, generator, integers=integers)
        if new is not None:
            with contextlib.suppress(RuntimeError):  # memory that overlaps itself in another way: kept
                elements.copy_(new)


def nudge(parameters: Iterable[Any]) -> None:
    """Move each floating parameter by a share of itself, and off zero. Call with modes off."""
    generator = torch.Generator().manual_seed(_SEED + 1)
    for tensor in _plain(parameters):
        elements = _distinct(tensor)
        if elements is not None and (elements.is_floating_point() or elements.is_complex()):
            share = _uniform(elements, -1.0, 1.0, generator)
            with contextlib.suppress(RuntimeError):
                elements.copy_(elements * (1 + _NUDGE * share) + torch.where(elements == 0, 0.1 * share, 0 * share))


def _plain(tensors: Iterable[Any]) -> Iterable[torch.Tensor]:
    for tensor in tensors:
        if is_traceable_wrapper_subclass(tensor):
            yield from _plain(inner_tensors(tensor).values())
        elif isinstance(tensor, torch.Tensor) and has_data(tensor):
            yield tensor.data  # no new version: a graph of the user's may have saved the tensor


def _distinct(tensor: torch.Tensor) -> torch.Tensor | None:
    """A view of each element once: an expanded tensor has many of one. None for what is not strided."""
    if tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized:
        return None
    shape = [1 if step == 0 else size for size, step in zip(tensor.shape, tensor.stride(), strict=True)]
    return tensor.as_strided(shape, tensor.stride(), tensor.storage_offset()) if shape != list(tensor.shape) else tensor


def _other(example: torch.Tensor, generator: torch.Generator, *, integers: bool) -> torch.Tensor | None:
    if example.dtype is torch.bool:
        return None
    if example.is_complex():
        real, imaginary = (_floats(part, generator) for part in (example.real, example.imag))
        return torch.complex(real, imaginary).to(example.dtype)
    if example.is_floating_point():
        return _floats(example, generator)
    if not integers:
        return None
    order = torch.randperm(example.numel(), generator=generator).to(example.device)
    return example.reshape(-1)[order].reshape(example.shape)


def _floats(example: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Draw from the range of the example; what is infinite or nan stays where it is: a mask is made of it."""
    wide = example.float()
    finite = torch.isfinite(wide)
    if not bool(finite.any()):
        return example.clone()
    low, high = (float(bound) for bound in torch.aminmax(wide[finite]))
    if high - low < 1e-3 * max(abs(low), abs(high), 1e-3):  # one value: ones, zeros
        low, high = (low - 1.0, high + 1.0) if low == 0 else (min(0.5 * low, 1.5 * low), max(0.5 * high, 1.5 * high))
    return torch.where(finite, _uniform(wide, low, high, generator), wide).to(example.dtype)


def _uniform(like: torch.Tensor, low: float, high: float, generator: torch.Generator) -> torch.Tensor:
    dtype = torch.complex64 if like.is_complex() else torch.float32
    share = torch.rand(like.shape, generator=generator).to(like.device)
    return (low + (high - low) * share).to(dtype if like.dtype.itemsize < 8 or like.is_complex() else like.dtype)  # noqa: PLR2004 - float64

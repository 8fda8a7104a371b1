"""A value as one moment saw it: copied, so that what runs later cannot change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.replay.refusal import UnreplayedError
from guard.tracers.data import has_data, inner_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Noted:
    """One value. Take it with modes off."""

    value: Any
    """A detached copy of a plain tensor; None where ``inner`` says it; anything else as it is."""
    kind: str = ""
    """Class of a wrapper subclass, else ""."""
    requires_grad: bool = False
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] | None = None
    """None where there is none (sparse), or where it says nothing (at most one element)."""
    placements: str = ""
    inner: Mapping[str, Noted] = field(default_factory=dict)
    """Of a wrapper subclass: its inner tensors."""

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor of any class."""
        return isinstance(self.value, torch.Tensor) or bool(self.kind)


def note(value: Any, *, requires_grad: bool | None = None) -> Noted:
    """Copy a value.

    Args:
        value: of a run.
        requires_grad: in place of the value's own.

    Raises:
        UnreplayedError: it is a tensor without data, or a nested one without sizes.
    """
    if not isinstance(value, torch.Tensor):
        return Noted(value)
    if value.is_nested and not is_traceable_wrapper_subclass(value):
        raise UnreplayedError("a nested tensor is compared only where its layout is torch.jagged")
    flag = value.requires_grad if requires_grad is None else requires_grad
    shape = tuple(value.shape)
    if is_traceable_wrapper_subclass(value):
        inner = {name: note(part) for name, part in inner_tensors(value).items()}
        return Noted(None, type(value).__name__, flag, shape, placements=placements_of(value), inner=inner)
    if not has_data(value):
        raise UnreplayedError(f"a value of the run has no data: {type(value).__name__} on {value.device}")
    return Noted(value.detach().clone(), "", flag, shape, _stride(value))


def placements_of(value: Any) -> str:
    """Placements of a DTensor as text, "" for what has none."""
    placements = getattr(value, "placements", None)
    return "" if placements is None else ", ".join(map(str, placements))


def storage_of(value: Any) -> int | None:
    """Identity of the storage that a tensor's elements are in; None where it has none of its own, or no element."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided or value.is_nested:
        return None
    if is_traceable_wrapper_subclass(value):
        parts = list(inner_tensors(value).values())
        return storage_of(parts[0]) if len(parts) == 1 else None
    if not value.numel():
        return None
    try:
        return int(value.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return None


def _stride(value: torch.Tensor) -> tuple[int, ...] | None:
    """Strides of dimensions that have more than one element: those of others are never used."""
    if value.layout is not torch.strided or value.is_nested or value.numel() < 2:  # noqa: PLR2004 - more than one
        return None
    return tuple(step if size > 1 else 0 for size, step in zip(value.shape, value.stride(), strict=True))

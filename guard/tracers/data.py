"""Whether a tensor's values can be read: FakeTensors, meta tensors and the wrappers of a trace have none."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass


def has_data(value: torch.Tensor) -> bool:
    """Tell whether a tensor's values can be read; those of a wrapper subclass are its inner tensors'."""
    if is_traceable_wrapper_subclass(value):
        return all(has_data(part) for part in inner_tensors(value).values())
    return not (value.is_meta or is_of_a_trace(value))


def is_of_a_trace(value: torch.Tensor) -> bool:
    """Tell whether only a trace makes such a tensor."""
    return bool(
        isinstance(value, FakeTensor)
        or torch._is_functional_tensor(value)
        or torch._C._functorch.is_functorch_wrapped_tensor(value)
    )


def inner_tensors(value: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return the inner tensors of a wrapper subclass by attribute; an opaque part is a DeviceMesh (torch >= 2.13)."""
    names, _ = value.__tensor_flatten__()
    parts = {name: getattr(value, name) for name in names}
    return {name: part for name, part in parts.items() if isinstance(part, torch.Tensor)}

"""Collectives of a run on the fake process group: what they return is garbage, and nothing can be said of it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass

if TYPE_CHECKING:
    from collections.abc import Iterator

COLLECTIVES = frozenset(("_c10d_functional", "_c10d_functional_autograd", "c10d_functional", "c10d", "symm_mem"))


@contextlib.contextmanager
def watched() -> Iterator[list[str]]:
    """While open, note the collectives that run; without a fake process group there are none to note."""
    talked: list[str] = []
    if dist.is_available() and dist.is_initialized() and dist.get_backend() == "fake":
        with Watching(talked):
            yield talked
    else:
        yield talked


class Watching(TorchDispatchMode):
    """Guard's own mode: it is no part of what a program leaves behind."""

    def __init__(self, talked: list[str]) -> None:
        super().__init__()
        self._talked = talked

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(is_traceable_wrapper_subclass(kind) or hasattr(kind, "__tensor_flatten__") for kind in types):
            return NotImplemented  # its own dispatch runs first, under this mode
        if func.namespace in COLLECTIVES:
            self._talked.append(str(func))
        return func(*args, **(kwargs or {}))

"""The program's own outputs: their pytree, their outer types and requires_grad, which no fx graph carries."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.ir.lower.context import Returned
from guard.ir.lower.trees import out_tree_text


class Outputs:
    """Remembers what the program returned each time that it ran; the last run is the traced one."""

    def __init__(self) -> None:
        self.leaves: tuple[Any, ...] = ()
        self.spec: Any = None

    def record(self, value: Any) -> list[Any]:
        """Flatten, remember, and return the flat leaves."""
        leaves, self.spec = pytree.tree_flatten(value)
        self.leaves = tuple(leaves)
        return list(leaves)

    def tree(self) -> str | None:
        """Text of the output's pytree, None where the signature already says it."""
        return None if self.spec is None else out_tree_text(self.spec)

    def returned(self) -> tuple[Returned, ...]:
        """Each flat output as lowering wants it."""
        return tuple(self.leaf(index) for index in range(len(self.leaves)))

    def leaf(self, index: int) -> Returned:
        """One flat output; one that was never seen says nothing."""
        if index >= len(self.leaves):
            return Returned()
        value = self.leaves[index]
        return Returned(outer=outer_value(value), requires_grad=requires_grad(value))


def outer_value(value: Any) -> Any:
    """The value itself where the user sees a wrapper subclass, None for all else."""
    return value if isinstance(value, torch.Tensor) and is_traceable_wrapper_subclass(value) else None


def requires_grad(value: Any) -> bool:
    """Whether a value is a tensor that requires grad."""
    return isinstance(value, torch.Tensor) and value.requires_grad

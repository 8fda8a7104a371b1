"""Inputs that a graph writes: found by running it, and put back before each further run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.ir.rebuild.refusal import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence


class State:
    """The values that inputs began with."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self._inputs = list(inputs)
        self._began = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
        self._written: list[int] = []

    def look(self) -> None:
        """Find what runs have written so far, by its bytes.

        Raises:
            RefusedError: an input was resized, which a copy does not undo.
        """
        for index, (value, began) in enumerate(zip(self._inputs, self._began, strict=True)):
            if not isinstance(value, torch.Tensor) or index in self._written:
                continue
            if value.shape != began.shape:
                raise RefusedError("the graph resizes an input")
            if not same_bits(value, began):
                self._written.append(index)

    def restore(self) -> None:
        """Put back what was written."""
        for index in self._written:
            self._inputs[index].copy_(self._began[index])

    def written(self) -> list[tuple[int, torch.Tensor]]:
        """Index and value of the inputs that were written, as they are now."""
        return [(index, self._inputs[index].clone()) for index in sorted(self._written)]

    @property
    def count(self) -> int:
        """Number of inputs to put back."""
        return len(self._written)


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one shape hold the same bits: nan equals nan, 0.0 is not -0.0."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if not a.is_complex() and not a.is_floating_point():
        return bool(torch.equal(a, b))
    return bool(torch.equal(_bytes(a), _bytes(b)))


def _bytes(value: torch.Tensor) -> torch.Tensor:
    # a copy that is laid out anew: view(uint8) wants the last dimension dense, and an expanded one is not
    return value.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)

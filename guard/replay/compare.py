"""Values of two runs: the first element that differs beyond torch's own tolerances of its dtype."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.testing import assert_close

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def first_difference(wanted: Sequence[Any], got: Sequence[Any], names: Sequence[str]) -> str | None:
    """Say where two lists of values differ first, in words; None where they agree.

    Tensors agree as ``torch.testing.assert_close`` has it by default, with nan equal to nan.

    Args:
        wanted: of the baseline.
        got: of current.
        names: what messages call each value.
    """
    if len(wanted) != len(got):
        return f"wanted {len(wanted)} values, got {len(got)}"
    for name, left, right in zip(names, wanted, got, strict=True):
        found = _difference(left, right)
        if found is not None:
            return f"{name}{found}"
    return None


def _difference(wanted: Any, got: Any) -> str | None:
    if isinstance(wanted, torch.Tensor) and isinstance(got, torch.Tensor):
        return _of_tensors(wanted, got)
    if isinstance(wanted, (list, tuple)) and isinstance(got, (list, tuple)):
        names = [f"[{index}]" for index in range(len(wanted))]
        return first_difference(wanted, got, names)
    if type(wanted) is not type(got):
        return f": wanted {type(wanted).__name__}, got {type(got).__name__}"
    same = wanted == got or (isinstance(wanted, float) and math.isclose(wanted, got, rel_tol=1e-7))
    both_nan = wanted != wanted and got != got  # noqa: PLR0124 - only nan differs from itself
    return None if same or both_nan else f": wanted {wanted!r}, got {got!r}"


def _of_tensors(wanted: torch.Tensor, got: torch.Tensor) -> str | None:
    for what in ("dtype", "shape", "device"):
        left, right = getattr(wanted, what), getattr(got, what)
        if left != right:
            return f": wanted {what} {_plain(left)}, got {_plain(right)}"
    try:
        assert_close(got, wanted, equal_nan=True, check_stride=False)
    except AssertionError:
        return _element(wanted, got)
    return None


def _element(wanted: torch.Tensor, got: torch.Tensor) -> str:
    return first_element(wanted, got, _close)


def first_element(wanted: torch.Tensor, got: torch.Tensor, close: Callable[[torch.Tensor, torch.Tensor], bool]) -> str:
    """Say where two tensors of one shape differ first, by halves: assert_close says only which element is the worst.

    ``close`` is asked of flat parts of the two, ``wanted`` first.
    """
    left, right = wanted.reshape(-1), got.reshape(-1)
    low, high = 0, left.numel()
    while high - low > 1:
        middle = (low + high) // 2
        if close(left[low:middle], right[low:middle]):
            low = middle
        else:
            high = middle
    place = _place(low, tuple(wanted.shape))
    return f"{place}: wanted {left[low].item()!r}, got {right[low].item()!r}"


def _close(wanted: torch.Tensor, got: torch.Tensor) -> bool:
    try:
        assert_close(got, wanted, equal_nan=True)
    except AssertionError:
        return False
    return True


def _place(flat: int, shape: tuple[int, ...]) -> str:
    found: list[int] = []
    for size in reversed(shape):
        found.append(flat % size)
        flat //= size
    return f" {found[::-1]}" if found else ""


def _plain(value: Any) -> str:
    return str(list(value)) if isinstance(value, torch.Size) else str(value).removeprefix("torch.")

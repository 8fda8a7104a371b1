"""What one moment's value should have been, and was: the first thing in which two noted values differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.testing import assert_close

from guard.replay.compare import first_difference, first_element
from guard.replay.state import same_bits

if TYPE_CHECKING:
    from guard.replay.noted import Noted

ULPS = 16
"""Of a tensor's largest element: an element may be off by so many, for a sum of the same terms in another order is."""


class Difference(NamedTuple):
    """In what two values differ, and how."""

    aspect: str
    """``dtype``, ``shape``, ``requires_grad``, ...; "" for the values themselves."""
    line: str
    """``[0, 1]: wanted 1.0, got 2.0``."""


class Tolerance(NamedTuple):
    """How far values may be apart; both None is torch.testing.assert_close's, by dtype."""

    rtol: float | None = None
    atol: float | None = None
    bitwise: bool = False

    def close(self, wanted: torch.Tensor, got: torch.Tensor, largest: float = 0.0) -> bool:
        """Tell whether two plain tensors of one dtype and shape agree; ``largest`` is the whole tensor's element."""
        if self.bitwise:
            return same_bits(wanted, got)
        rtol, atol = self.rtol, self.atol
        if rtol is None or atol is None:
            rtol, atol = _DEFAULT.get(wanted.dtype, (0.0, 0.0))
            if wanted.is_floating_point() or wanted.is_complex():
                atol = max(atol, ULPS * torch.finfo(wanted.dtype).eps * largest)
        try:
            assert_close(got, wanted, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
        except AssertionError:
            return False
        return True


# (rtol, atol) as torch.testing.assert_close documents them; other dtypes are exact
_DEFAULT = {
    torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7), torch.complex32: (1e-3, 1e-5), torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}  # fmt: skip


def differ(wanted: Noted, got: Noted, tolerance: Tolerance, *, layout: bool = True) -> Difference | None:
    """Return the first difference; None where the two agree.

    Args:
        wanted: eager's.
        got: the graph's.
        tolerance: for elements.
        layout: whether strides and requires_grad count: a gradient's are the engine's choice.
    """
    if not (wanted.is_tensor and got.is_tensor):
        found = first_difference([wanted.value], [got.value], [""])
        return None if found is None else Difference("", found.removeprefix(": "))
    for aspect in ("kind", "shape", "placements", *(("requires_grad", "stride") if layout else ())):
        left, right = getattr(wanted, aspect), getattr(got, aspect)
        unknown = None in {left, right} or (aspect == "placements" and "" in {left, right})
        if left != right and not unknown:
            return Difference("class" if aspect == "kind" else aspect, f"wanted {_said(left)}, got {_said(right)}")
    if wanted.kind:
        pairs = ((part, got.inner.get(name)) for name, part in wanted.inner.items())
        found_in = (differ(part, other, tolerance, layout=False) for part, other in pairs if other is not None)
        return next((found for found in found_in if found is not None), None)
    return _of_plain(wanted.value, got.value, tolerance)


def _of_plain(wanted: torch.Tensor, got: torch.Tensor, tolerance: Tolerance) -> Difference | None:
    for aspect in ("dtype", "device", "layout", "shape"):
        left, right = getattr(wanted, aspect), getattr(got, aspect)
        if left != right:
            return Difference(aspect, f"wanted {_said(left)}, got {_said(right)}")
    if wanted.layout is not torch.strided or wanted.is_quantized or wanted.is_nested:
        same = tolerance.close(wanted, got)
        return None if same else Difference("", f"wanted {wanted}, got {got}"[:300])
    if torch.equal(wanted, got):  # 50 times faster than assert_close, and nearly always so
        return None if not tolerance.bitwise or same_bits(wanted, got) else _elements(wanted, got, tolerance)
    largest = _largest(wanted)
    return None if tolerance.close(wanted, got, largest) else _elements(wanted, got, tolerance, largest)


def _elements(wanted: torch.Tensor, got: torch.Tensor, tolerance: Tolerance, largest: float = 0.0) -> Difference:
    line = first_element(wanted, got, lambda left, right: tolerance.close(left, right, largest))
    return Difference("", line.strip().removeprefix(": "))


def _largest(value: torch.Tensor) -> float:
    if not (value.is_floating_point() or value.is_complex()):
        return 0.0
    finite = value.abs().float()
    finite = finite[torch.isfinite(finite)]
    return float(finite.max()) if finite.numel() else 0.0


def _said(value: Any) -> str:
    if isinstance(value, (tuple, torch.Size)):
        return str(list(value))
    return str(value).removeprefix("torch.") or "a plain tensor"

"""What tracing did, counted: call events of one warm capture. Frozen data; ``guard/cost/trace`` counts, stores keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Key(NamedTuple):
    """Where a count was taken: counts of two keys are not comparable."""

    torch: str
    """Full version and build: ``2.13.0+cpu git-1a2b3c4d5e6f``."""
    python: str
    """``3.11``."""
    system: str
    """``linux-x86_64``."""
    fixes: tuple[str, ...]
    """Fixes of guard's that this torch needs and that were applied, sorted; none with ``--fixes off``."""

    def __str__(self) -> str:
        """One line, which is a section's name in a stored file."""
        fixes = "+".join(self.fixes) or "none"
        return f"torch {self.torch}, python {self.python}, {self.system}, fixes {fixes}"


@dataclass(frozen=True)
class Growth:
    """How calls grow with a check's size, over three sizes in geometric progression."""

    sizes: tuple[int, int, int]
    calls: tuple[int, int, int]

    @property
    def exponent(self) -> float | None:
        """``p`` of ``calls = a + b * size**p``, which the constant part ``a`` does not move; None where nothing grows.

        With sizes n, qn, q²n the two steps are in the proportion q**p.
        """
        from math import log

        (first, second, _), (low, middle, high) = self.sizes, self.calls
        if middle <= low or high <= middle:
            return None
        return log((high - middle) / (middle - low)) / log(second / first)

    @property
    def beyond_linear(self) -> float:
        """Part of the calls at the largest size that is above the line through the other two; below it, negative.

        It shows a quadratic term long before that outgrows the linear one and shows in the exponent.
        """
        (first, second, third), (low, middle, high) = self.sizes, self.calls
        line = middle + (middle - low) * (third - second) / (second - first)
        return (high - line) / high if high else 0.0


@dataclass(frozen=True)
class TraceCost:
    """The count of one capture."""

    key: Key
    calls: int
    """Python and C call events."""
    functions: tuple[tuple[str, int], ...] = ()
    """Events of each function, its own entries and the C calls it makes: ``torch/fx/proxy.py:TracerBase.create_proxy``.
    Sorted by name; those with less than a thousandth of all events are left out."""
    propagations: int | None = None
    """Sharding propagations that the cache did not answer; None where this torch has none that can be counted."""
    growth: Growth | None = None
    """Of a check that declares ``sizes=``."""
    instructions: int | None = None
    """Where a hardware counter works; shown, never judged."""

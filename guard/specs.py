"""How a program is to be captured: frozen and torch-free, so that ``from guard import MakeFx`` costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Decompositions: TypeAlias = Mapping[Any, Callable[..., Any]] | Literal["core_aten"] | None

TRACING_MODES = ("real", "fake", "symbolic")


@dataclass(frozen=True)
class MakeFx:
    """torch.fx.experimental.proxy_tensor.make_fx: dead nodes are kept, mutations stay as the program wrote them."""

    tracing_mode: Literal["real", "fake", "symbolic"] = "real"
    pre_dispatch: bool = False
    decompositions: Decompositions = None
    """Operator overload -> function, or "core_aten"."""

    def __post_init__(self) -> None:
        """Refuse a mode that does not exist: recorded, its error would be a baseline."""
        if self.tracing_mode not in TRACING_MODES:
            wanted = ", ".join(f'"{mode}"' for mode in TRACING_MODES)
            raise UsageError(f"MakeFx: wanted tracing_mode {wanted}, got {self.tracing_mode!r}")


@dataclass(frozen=True)
class AotJoint:
    """AOTAutograd's joint graph of forward and backward, input mutations kept, names by descriptor."""

    decompositions: Decompositions = None


@dataclass(frozen=True)
class Compile:
    """torch.compile with a capturing backend: each graph's forward and backward, graph breaks, recompiles."""

    dynamic: bool | None = None
    fullgraph: bool = False
    decompositions: Decompositions = None


Tracer: TypeAlias = "MakeFx | AotJoint | Compile"


@dataclass(frozen=True)
class Sizes:
    """What to trace at three sizes, so that a tracer whose work grows faster than the program is seen.

    ``guard.check(..., sizes=Sizes(lambda n: (chain(n), (x,))))``: the program of a size, and its arguments.
    """

    make: Callable[[int], tuple[Callable[..., Any], tuple[Any, ...]]]
    at: tuple[int, int, int] = (8, 16, 32)
    """In geometric progression: then a constant part does not move the exponent."""

    def __post_init__(self) -> None:
        """Refuse sizes from which no exponent can be told."""
        if not callable(self.make):
            raise UsageError(f"Sizes: wanted a function of the size, got {type(self.make).__name__}")
        object.__setattr__(self, "at", tuple(self.at))
        if not _is_progression(self.at):
            raise UsageError(f"Sizes: wanted at= three sizes in geometric progression, as (8, 16, 32), got {self.at}")


def _is_progression(at: tuple[object, ...]) -> bool:
    sizes = [size for size in at if isinstance(size, int) and not isinstance(size, bool)]
    if len(sizes) != len(at) or len(sizes) != 3:  # noqa: PLR2004 - as many as an exponent needs
        return False
    low, middle, high = sizes
    return 0 < low < middle and middle * middle == low * high

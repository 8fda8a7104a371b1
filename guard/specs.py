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


@dataclass(frozen=True)
class Replay:
    """How one check's graph is to be run against its program."""

    order: int | None = None
    """Of the gradients that are compared, 0 to 2; None is 1 where the graph holds a backward, else 0."""
    inputs: Callable[[], Any] | tuple[Any, ...] | None = None
    """Makes further arguments in place of those that guard draws."""
    tolerance: tuple[float, float] | Literal["bitwise"] | None = None
    """(rtol, atol); None is torch.testing.assert_close's, by dtype."""
    off: str = ""
    """Why this check is not replayed."""

    def __post_init__(self) -> None:
        """Refuse what would be found out only once the program was traced."""
        if self.order not in (None, 0, 1, 2) or isinstance(self.order, bool):
            raise UsageError(f"guard.check: wanted order=0, 1 or 2, got {self.order!r}")
        if self.inputs is not None and not callable(self.inputs) and not isinstance(self.inputs, tuple):
            raise UsageError(f"guard.check: wanted inputs= a function or a tuple, got {type(self.inputs).__name__}")
        if self.tolerance not in (None, "bitwise") and not _is_tolerance(self.tolerance):
            raise UsageError(f'guard.check: wanted tolerance="bitwise" or (rtol, atol), got {self.tolerance!r}')
        if not isinstance(self.off, str):
            raise UsageError(f'guard.check: wanted replay="why it is off", got {self.off!r}')


def _is_tolerance(value: object) -> bool:
    pair = value if isinstance(value, tuple) else ()
    return len(pair) == 2 and all(isinstance(part, (int, float)) and 0 <= part < float("inf") for part in pair)  # noqa: PLR2004 - rtol, atol


def _is_progression(at: tuple[object, ...]) -> bool:
    sizes = [size for size in at if isinstance(size, int) and not isinstance(size, bool)]
    if len(sizes) != len(at) or len(sizes) != 3:  # noqa: PLR2004 - as many as an exponent needs
        return False
    low, middle, high = sizes
    return 0 < low < middle and middle * middle == low * high

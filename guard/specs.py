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

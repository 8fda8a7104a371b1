"""What a tracer knows of a graph that the graph itself does not say: names, roles, outer types, pytrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Placeholder:
    """One placeholder of the fx graph, or one tensor that a get_attr reaches."""

    name: str
    role: str = "input"
    labels: tuple[str, ...] = ()
    outer: Any = None
    """The value that the user sees (a DTensor), for its type; None is the node's own."""
    requires_grad: bool = False
    alias: str | None = None
    """Name of an earlier input on the same storage."""
    attribute: str | None = None
    """The inner tensor of a wrapper subclass that this placeholder is."""
    literal: tuple[Any, ...] = ()
    """The value of an argument that is no tensor: what it is specialized to, unless the trace made a symbol of it."""
    dropped: bool = False
    """Folded into another input's outer type (a DeviceMesh): never a value here."""


@dataclass(frozen=True)
class Returned:
    """One flat output of the fx graph."""

    role: str = "output"
    of: str | None = None
    outer: Any = None
    requires_grad: bool = False
    attribute: str | None = None
    dropped: bool = False


@dataclass(frozen=True)
class Context:
    """Everything that lowering takes from the tracer for one graph."""

    name: str
    placeholders: tuple[Placeholder, ...] = ()
    """In the graph's order; where it is shorter, the rest are inputs that keep their node names."""
    returned: tuple[Returned, ...] = ()
    """In the graph's order; where it is shorter, the rest are plain outputs."""
    lifted: Mapping[int, Placeholder] = field(default_factory=dict)
    """``id`` of a parameter or buffer -> the input that a get_attr of it becomes."""
    in_tree: str | None = None
    out_tree: str | None = None
    shape_env: Any = None
    """ShapeEnv that owns the symbols, for constraints; None without symbols."""

"""The model of captured graphs: frozen data, no torch, no text. Its text is the printer's (docs/grammar.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Union

if TYPE_CHECKING:
    from guard.ir.expr import Expr
    from guard.ir.types import Type

ROLES = ("input", "parameter", "buffer", "tangent", "constant", "saved")
OUTPUT_ROLES = ("output", "mutated", "alias", "grad", "saved")
EFFECTS = ("alias", "write", "rng", "comm", "mode", "barrier")


class Ref(NamedTuple):
    """A use of a value by its name, without the ``%``."""

    name: str


class Token(NamedTuple):
    """A literal that torch names.

    Kinds: ``dtype`` (f32), ``layout``, ``memory_format``, ``device`` (cpu, cuda:0), ``generator`` (cpu).
    """

    kind: str
    text: str


class Slice(NamedTuple):
    """A slice: ``slice(None, 2, None)``."""

    start: Arg
    stop: Arg
    step: Arg


class Mapping(NamedTuple):
    """A dict argument with string keys, in program order: ``{"a": 1}``."""

    items: tuple[tuple[str, Arg], ...]


class Body(NamedTuple):
    """A use of a named body by a higher-order operator: ``@body_1``."""

    name: str


class Group(NamedTuple):
    """A process group by its ranks: ``group(0, 1)``."""

    ranks: tuple[int, ...]


class Opaque(NamedTuple):
    """An object known by its type's name alone, with an alarm: ``opaque("Foo")``."""

    name: str


class Digest(NamedTuple):
    """The bytes of a constant too large to print: ``digest("sha256:...")``; ``no-bytes`` for a fake one."""

    text: str


# A list or a tuple of arguments is a tuple here and prints as a list: torch's dispatcher does not tell them apart.
Arg = Union[
    Ref,
    Token,
    Slice,
    Mapping,
    Body,
    Group,
    Opaque,
    Digest,
    "Expr",
    "tuple[Arg, ...]",
    int,
    float,
    complex,
    bool,
    str,
    None,
]


class Effect(NamedTuple):
    """What a node does besides computing its results.

    ``alias`` and ``write`` name values (``{alias %a}``), ``rng`` a device (``{rng cpu}``), ``comm`` ranks;
    ``mode`` and ``barrier`` stand alone.
    """

    kind: str
    on: tuple[str | int, ...] = ()


class Result(NamedTuple):
    """One result of a node; an unused one of several has no name and prints ``_``."""

    name: str | None
    type: Type


class Node(NamedTuple):
    """One operation. The getitems of a multi-result operator are folded into its results."""

    results: tuple[Result, ...]
    target: str
    args: tuple[Arg, ...]
    kwargs: tuple[tuple[str, Arg], ...] = ()
    effects: tuple[Effect, ...] = ()
    tags: tuple[str, ...] = ()
    """backward, recompute, ...: printed as ``#backward``; part of equality."""
    source: str | None = None
    """``path:line`` of the user's code: on current only, for messages; never printed, never compared."""


class Input(NamedTuple):
    """A placeholder, or a parameter, buffer or tensor that the tracer lifted."""

    name: str
    type: Type
    role: str = "input"
    labels: tuple[str, ...] = ()
    """Further qualified names of a tied parameter; not part of equality (nor is ``name``)."""
    alias: str | None = None
    """An earlier input whose storage this one shares."""


class Output(NamedTuple):
    """One flat output: a value, its outer type, and what it is of which input."""

    value: Arg
    type: Type | None = None
    """None where the value is a literal."""
    role: str = "output"
    of: str | None = None
    """Input that is mutated, aliased or differentiated."""


@dataclass(frozen=True, slots=True)
class Graph:
    """One named graph or body."""

    name: str
    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    where: tuple[Expr, ...] = ()
    """Constraints on symbols."""
    in_tree: str | None = None
    """Pytree of the inputs as text, None where it is flat: ``(*, {"x": *})``."""
    out_tree: str | None = None
    """Pytree of the outputs as text, None where it is one leaf or a flat tuple of several."""
    device: str = "cpu"


class Event(NamedTuple):
    """A graph break or recompile of ``torch.compile``."""

    kind: str
    """``break`` or ``recompile``."""
    reason: str
    code: str
    """The user's line as text (stripped), "" where it is not known: it survives a move of the line."""
    source: str | None = None
    """``path:line``; for messages only, never printed, never compared."""


@dataclass(frozen=True, slots=True)
class CaptureError:
    """A capture that raised."""

    kind: str
    """Class of the error: one of guard.tracers.errors' table, such as ``untracked-proxy``."""
    line: str
    """The first telling line, without ids, addresses and symbol numbers."""
    fingerprint: str
    """12 hex digits that survive torch's rewording."""
    code: str = ""
    """The user's line as text."""
    source: str | None = None
    """``path:line``; for messages only, never printed, never compared."""
    cause: str | None = None
    """Public number of a known cause with the way out; for messages only."""


@dataclass(frozen=True, slots=True)
class Program:
    """Everything that one check captured, which is what one file holds."""

    check: str
    tracer: str
    """As in the header: ``make_fx(tracing_mode=real)``."""
    graphs: tuple[Graph, ...] = ()
    bodies: tuple[Graph, ...] = ()
    events: tuple[Event, ...] = ()
    error: CaptureError | None = None
    """In place of graphs."""
    partial: Graph | None = None
    """What torch had traced when it failed; carried on current only."""

"""Two runs beside each other: the first thing that the graph does not do as the program does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import torch

from guard.replay.ambience import changed
from guard.replay.differ import Difference, Tolerance, differ

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard.replay.noted import Noted
    from guard.replay.observed import Observed


class Terms(NamedTuple):
    """What of two runs is comparable."""

    tolerance: Tolerance
    flags: bool = True
    """Whether requires_grad counts."""
    surplus: bool = False
    """Whether the graph may require grad where eager does not."""


class Wrong(NamedTuple):
    """One thing that differs."""

    what: str
    """``output 0``, ``gradient of parameter "weight"``, ``requires_grad of output 1``."""
    line: str
    """Where, wanted and got."""

    @property
    def is_flag(self) -> bool:
        """Whether it is about requires_grad."""
        return self.what.startswith("requires_grad of ")


def contrast(eager: Observed, graph: Observed, terms: Terms) -> Wrong | None:
    """Return the first difference, in the order in which a run shows things; None where there is none."""
    return next(_differences(eager, graph, terms), None)


def _differences(eager: Observed, graph: Observed, terms: Terms) -> Iterator[Wrong]:
    yield from _outputs(eager.outputs, graph.outputs, terms, "")
    if eager.aliases is not None and graph.aliases is not None:
        yield from _aliases(eager.aliases, graph.aliases)
    yield from _values(eager.forward, graph.forward, terms, " after forward")
    # a program whose outputs stand for no gradient has no such order
    for order, (wanted, got) in enumerate(_pairs(eager, graph), 1):
        yield from _gradients(wanted, got, terms, "second-order gradient" if order > 1 else "gradient")
    after = eager.backward if eager.backward is not None else eager.forward
    yield from _values(after, graph.backward, terms, " after backward")
    if eager.outputs_after is not None and graph.outputs_after is not None:
        yield from _outputs(eager.outputs_after, graph.outputs_after, terms, " after backward")
    if eager.settings and graph.settings:
        found = changed(eager.settings, graph.settings)
        if found is not None:
            yield Wrong(*found)


def _pairs(eager: Observed, graph: Observed) -> list[tuple[Mapping[str, Noted | None], Mapping[str, Noted | None]]]:
    orders = max(len(eager.gradients), len(graph.gradients))
    nothing: Mapping[str, Noted | None] = {}
    wanted, got = (list(side.gradients) + [nothing] * (orders - len(side.gradients)) for side in (eager, graph))
    return list(zip(wanted, got, strict=True))


def _outputs(wanted: tuple[Noted, ...], got: tuple[Noted, ...], terms: Terms, when: str) -> Iterator[Wrong]:
    if len(wanted) != len(got):
        yield Wrong(f"number of outputs{when}", f"wanted {len(wanted)}, got {len(got)}")
        return
    for index, (left, right) in enumerate(zip(wanted, got, strict=True)):
        yield from _value(f"output {index}", left, right, terms, when)


def _values(
    wanted: Mapping[str, Noted] | None, got: Mapping[str, Noted] | None, terms: Terms, when: str
) -> Iterator[Wrong]:
    if wanted is None or got is None:
        return
    for name, left in wanted.items():
        if name in got:
            yield from _value(name, left, got[name], terms, when)


def _value(name: str, wanted: Noted, got: Noted, terms: Terms, when: str) -> Iterator[Wrong]:
    if not terms.flags or (terms.surplus and got.requires_grad):
        wanted = replace(wanted, requires_grad=got.requires_grad)
    found = differ(wanted, got, terms.tolerance)
    if found is not None:
        yield Wrong(f"{f'{found.aspect} of ' if found.aspect else ''}{name}{when}", found.line)


def _aliases(wanted: tuple[str, ...], got: tuple[str, ...]) -> Iterator[Wrong]:
    for index, (left, right) in enumerate(zip(wanted, got, strict=True)):
        if left != right:
            yield Wrong(f"storage of output {index}", f"wanted {_shared(left)}, got {_shared(right)}")


def _shared(name: str) -> str:
    return f"that of {name}" if name else "its own"


def _gradients(
    wanted: Mapping[str, Noted | None], got: Mapping[str, Noted | None], terms: Terms, kind: str
) -> Iterator[Wrong]:
    for name in wanted.keys() | got.keys() if not wanted or not got else wanted:
        found = _gradient(wanted.get(name), got.get(name), terms)
        if found is not None:
            yield Wrong(f"{f'{found.aspect} of the ' if found.aspect else ''}{kind} of {name}", found.line)


def _gradient(wanted: Noted | None, got: Noted | None, terms: Terms) -> Difference | None:
    """A gradient that is missing is one of zeros: which of the two an engine gives is its own choice."""
    if wanted is not None and got is not None:
        return differ(wanted, got, terms.tolerance, layout=False)
    there = wanted if wanted is not None else got
    if there is None or _is_zero(there):
        return None
    return Difference("", f"wanted {_short(wanted)}, got {_short(got)}")


def _is_zero(noted: Noted) -> bool:
    if noted.kind:
        return all(_is_zero(part) for part in noted.inner.values())
    return isinstance(noted.value, torch.Tensor) and not bool(noted.value.to_dense().any())


def _short(noted: Noted | None) -> str:
    return "none" if noted is None else f"one of shape {list(noted.shape)}"

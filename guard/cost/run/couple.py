"""A graph of the baseline and current's of its name, rebuilt, on the same inputs: do they compute the same values?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import torch

from guard.cost.paired import Paired
from guard.cost.run.kernels import kernels_of
from guard.cost.run.side import Side, namespaces_of
from guard.ir.printer import print_node
from guard.ir.rebuild.build import Source
from guard.ir.rebuild.refusal import RefusedError
from guard.replay.compare import first_difference
from guard.replay.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard.ir.expr import Expr
    from guard.ir.graph import Graph, Program

SEED = 0
WARM = 2  # runs of each before anything is timed


@dataclass(frozen=True)
class Couple:
    """Both graphs and their inputs, which have run once."""

    baseline: Side
    current: Side
    inputs: list[Any]
    state: State
    difference: str | None
    """First wrong element, wanted and got; None where they compute the same values."""

    @property
    def name(self) -> str:
        """The graphs' name."""
        return self.current.graph.name

    @property
    def values(self) -> str:
        """How their values compare, in words."""
        return "same values" if self.difference is None else "values differ"

    @property
    def nodes(self) -> int:
        """Of current's graph."""
        return len(self.current.graph.nodes)

    def kernels(self) -> tuple[int, int] | None:
        """Kernels that one call of each launches on a CUDA device."""
        device, found = self.current.graph.device, []
        for side in (self.baseline, self.current):
            self.state.restore()
            found.append(kernels_of(partial(side.run, self.inputs), device))
        was, now = found
        return None if was is None or now is None else (was, now)

    def warm_up(self) -> None:
        """Run both until what they allocate is there."""
        for side in (self.baseline, self.current) * WARM:
            self.state.restore()
            side.run(self.inputs)


def couples(
    baseline: Program, current: Program, constants: Mapping[str, torch.Tensor] | None = None
) -> Iterator[Couple | Paired]:
    """Rebuild each graph of current and the baseline's of its name, and run both once, slowly.

    Args:
        baseline: reviewed.
        current: what a check captured.
        constants: current's by digest, which the baseline's digests stand for too.

    Yields:
        One a graph; what cannot be run is a ``Paired`` that says why.
    """
    names = [graph.name for graph in current.graphs]
    if baseline.error is not None or current.error is not None:
        yield Paired("", problem="no run cost: a capture that failed has no graph")
        return
    if names != [graph.name for graph in baseline.graphs]:
        yield Paired("", problem="not comparable: there are other graphs than in the baseline")
        return
    known = Source(namespaces_of(current), constants or {})
    for was, now in zip(baseline.graphs, current.graphs, strict=True):
        yield _couple((baseline, was), (current, now), known)


def why_not(graph: str, error: Exception) -> Paired:
    """Say why a graph was not run, or not to its end."""
    if isinstance(error, RefusedError):
        return Paired(graph, f"no run cost: {error.reason}")
    # an operator's own error, on inputs that guard drew: nobody's defect
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return Paired(graph, f"no run cost: it fails on fresh inputs: {first[:200]}")


def _couple(was: tuple[Program, Graph], now: tuple[Program, Graph], known: Source) -> Couple | Paired:
    where = (*was[1].where, *now[1].where)
    left, right = _side("baseline", was, known, where), _side("current", now, known, where)
    if isinstance(left, Paired) or isinstance(right, Paired):
        return left if isinstance(left, Paired) else cast("Paired", right)
    try:
        return _run(left, right)
    except Exception as error:  # noqa: BLE001 - why_not has the reason
        return why_not(now[1].name, error)


def _side(name: str, of: tuple[Program, Graph], known: Source, where: tuple[Expr, ...]) -> Side | Paired:
    try:
        return Side(*of, known, where)
    except RefusedError as error:
        node = None if error.node is None else print_node(error.node)
        return replace(why_not(of[1].name, error), where=node, side=name)


def _run(left: Side, right: Side) -> Couple:
    inputs = left.draw()
    if _signature(inputs) != _signature(right.draw()):
        raise RefusedError("the inputs differ from the baseline's")
    state = State(inputs)
    values = [_values(side, inputs, state) for side in (left, right)]
    names = [f"output {index}" for index in range(len(values[0]) - 1)]
    difference = first_difference(values[0], values[1], [*names, "written inputs: "])
    if difference is not None and (left.draws or right.draws):
        difference += " (it draws random numbers: another order of draws differs, too)"
    return Couple(left, right, inputs, state, difference)


def _values(side: Side, inputs: list[Any], state: State) -> list[Any]:
    """Outputs of one run, copied before the next one writes their storage; behind them the inputs that it wrote."""
    state.restore()
    torch.manual_seed(SEED)
    outputs = [value.clone() if isinstance(value, torch.Tensor) else value for value in side.look(inputs)]
    state.look()
    return [*outputs, [value for pair in state.written() for value in pair]]


def _signature(inputs: list[Any]) -> list[Any]:
    return [
        (value.dtype, tuple(value.shape), value.stride(), value.device) if isinstance(value, torch.Tensor) else value
        for value in inputs
    ]

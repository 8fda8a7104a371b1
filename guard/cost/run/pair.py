"""Run the graphs of a baseline against those of current: do they compute the same values, and in what time?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch

from guard.cost.paired import Paired
from guard.cost.ratio import QUADS, measured
from guard.cost.run.clock import clock_of
from guard.cost.run.quads import quads
from guard.cost.run.side import Side, namespaces_of
from guard.ir.printer import print_node
from guard.ir.rebuild.refusal import RefusedError
from guard.replay.compare import first_difference
from guard.replay.state import State

if TYPE_CHECKING:
    from guard.ir.expr import Expr
    from guard.ir.graph import Graph, Node, Program

SEED = 0
WARM = 2  # runs of each before anything is timed


def pairs(baseline: Program, current: Program, count: int = QUADS) -> tuple[Paired, ...]:
    """Run each graph of current against the baseline's of its name; ``count`` quads each, 0 for values alone."""
    names = [graph.name for graph in current.graphs]
    if baseline.error is not None or current.error is not None:
        return (Paired("", problem="no run cost: a capture that failed has no graph"),)
    if names != [graph.name for graph in baseline.graphs]:
        return (Paired("", problem="not comparable: there are other graphs than in the baseline"),)
    return tuple(
        _pair(baseline, current, was, now, count) for was, now in zip(baseline.graphs, current.graphs, strict=True)
    )


def _pair(baseline: Program, current: Program, was: Graph, now: Graph, count: int) -> Paired:
    where = (*was.where, *now.where)
    left = _side("baseline", baseline, was, namespaces_of(current), where)
    right = _side("current", current, now, namespaces_of(current), where)
    for side in (left, right):
        if isinstance(side, Paired):
            return side
    try:
        return _run(cast("Side", left), cast("Side", right), count)
    except RefusedError as error:
        return Paired(now.name, f"no run cost: {error.reason}")
    except Exception as error:  # noqa: BLE001 - an operator's own error, on inputs that guard drew: nobody's defect
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return Paired(now.name, f"no run cost: it fails on fresh inputs: {first[:200]}")


def _side(name: str, program: Program, graph: Graph, allowed: frozenset[str], where: tuple[Expr, ...]) -> Side | Paired:
    try:
        return Side(program, graph, allowed, where)
    except RefusedError as error:
        return Paired(graph.name, f"no run cost: {error.reason}", _shown(error.node), side=name)


def _run(left: Side, right: Side, count: int) -> Paired:
    inputs = left.draw()
    if _signature(inputs) != _signature(right.draw()):
        return Paired(right.graph.name, "no run cost: the inputs differ from the baseline's")
    state = State(inputs)
    values = [_values(side, inputs, state) for side in (left, right)]
    names = [f"output {index}" for index in range(len(values[0]) - 1)]
    difference = first_difference(values[0], values[1], [*names, "written inputs: "])
    said = "same values" if difference is None else "values differ"
    if difference is not None and any(_draws(side.graph) for side in (left, right)):
        difference += " (it draws random numbers: another order of draws differs, too)"
    if not count:
        return Paired(right.graph.name, values=said, difference=difference)
    ratio = measured(_quads(left, right, inputs, state, count), max(len(left.graph.nodes), len(right.graph.nodes)))
    return Paired(right.graph.name, values=said, difference=difference, ratio=ratio)


def _values(side: Side, inputs: list[Any], state: State) -> list[Any]:
    """Outputs of one run, copied before the next one writes their storage; behind them the inputs that it wrote."""
    state.restore()
    torch.manual_seed(SEED)
    outputs = [value.clone() if isinstance(value, torch.Tensor) else value for value in side.look(inputs)]
    state.look()
    return [*outputs, [value for pair in state.written() for value in pair]]


def _quads(left: Side, right: Side, inputs: list[Any], state: State, count: int) -> Any:
    with torch.no_grad():
        for side in (left, right) * WARM:
            state.restore()
            side.run(inputs)
        clock = clock_of(left.graph.device)
        return quads(lambda: left.module(*inputs), lambda: right.module(*inputs), count, clock, state.restore)


def _signature(inputs: list[Any]) -> list[Any]:
    return [
        (value.dtype, tuple(value.shape), value.stride(), value.device) if isinstance(value, torch.Tensor) else value
        for value in inputs
    ]


def _draws(graph: Graph) -> bool:
    return any(effect.kind == "rng" for node in graph.nodes for effect in node.effects)


def _shown(node: Node | None) -> str | None:
    return None if node is None else print_node(node)

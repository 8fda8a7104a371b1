"""The cost of captured programs: totals, and each node's share. Linear in nodes. Pure: FLOPs' formulas are given."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from guard.cost.amount import largest
from guard.cost.live import Storages, held, peak
from guard.cost.node import FREE, Costs
from guard.cost.operators import rule
from guard.cost.sizes import Sizes
from guard.ir.uses import body_names, refs

if TYPE_CHECKING:
    from guard.cost.amount import Amount
    from guard.cost.node import Formulas, NodeCost
    from guard.ir.graph import Graph, Node, Program
    from guard.ir.types import Type


_Key = TypeVar("_Key")


class Tally(NamedTuple):
    """How many, and the bytes of them all."""

    times: int = 0
    bytes: Amount = 0


@dataclass
class Cost:
    """What a program, or a graph, must do. Each body counts once a call: both branches, and one round of a loop."""

    nodes: int = 0
    ops: Counter[str] = field(default_factory=Counter)
    """Target -> calls."""
    flops: Amount | None = 0
    """None where no formulas are at hand: torch is not installed."""
    no_formula: Counter[str] = field(default_factory=Counter)
    """Targets that have FLOPs by their names, and no formula: calls that ``flops`` leaves out."""
    read: Amount = 0
    """Bytes."""
    written: Amount = 0
    """Bytes."""
    rewritten: Amount = 0
    """Bytes written into inputs; part of ``written``."""
    peak: Amount = 0
    """Most live bytes in program order; of several graphs the largest."""
    collectives: dict[tuple[str, int], Tally] = field(default_factory=dict)
    """Name, group size -> calls and bytes."""
    copies: dict[str, Tally] = field(default_factory=dict)
    """``cpu -> cuda:0`` -> copies and bytes."""
    casts: dict[str, Tally] = field(default_factory=dict)
    """``f32 -> f64`` -> casts and bytes."""
    breaks: int = 0
    recompiles: int = 0
    untyped: int = 0
    """Nodes with a value of unknown size, which counts as nothing."""


class GraphCost(NamedTuple):
    """One graph and its nodes' costs."""

    graph: Graph
    total: Cost
    nodes: tuple[NodeCost, ...]
    needs: Amount
    """Most bytes that live at once besides the inputs."""


class ProgramCost(NamedTuple):
    """A program's totals, and each graph and body."""

    total: Cost
    graphs: tuple[GraphCost, ...]
    bodies: tuple[GraphCost, ...]


def program_cost(program: Program, formulas: Formulas | None = None) -> ProgramCost:
    """Compute what a program costs.

    Args:
        program: As captured or read.
        formulas: FLOPs of a call; None where there are none, then ``flops`` is None.
    """
    pricing = _Pricing({body.name: body for body in program.bodies}, formulas)
    graphs = tuple(pricing.graph(graph) for graph in program.graphs)
    bodies = tuple(pricing.body(body.name) for body in program.bodies)
    kinds = Counter(event.kind for event in program.events)
    total = Cost(flops=None if formulas is None else 0, breaks=kinds["break"], recompiles=kinds["recompile"])
    for one in graphs:
        _add(total, one.total)
    return ProgramCost(total, graphs, bodies)


class _Pricing:
    """Costs graphs, and each body once."""

    def __init__(self, bodies: dict[str, Graph], formulas: Formulas | None) -> None:
        self._bodies = bodies
        self._formulas = formulas
        self._known: dict[str, GraphCost] = {}

    def body(self, name: str) -> GraphCost:
        """Cost a body; none uses itself: the reader refuses that."""
        if name not in self._known:
            self._known[name] = self.graph(self._bodies[name])
        return self._known[name]

    def graph(self, graph: Graph) -> GraphCost:
        """Cost one graph."""
        costs = Costs({value.name: value.type for value in graph.inputs}, self._formulas, graph.device)
        nodes = tuple([costs.of(node) for node in graph.nodes])
        total = Cost(len(nodes), Counter([node.target for node in graph.nodes]))
        total.flops = None if self._formulas is None else 0
        within = self._within(graph, total) if self._bodies else {}
        for node, cost in zip(graph.nodes, nodes, strict=True):
            if cost is not FREE:
                _add_node(total, node, cost)
        storages = Storages(graph, nodes)
        total.rewritten = total.rewritten + rewritten(graph, storages)
        needs = peak(graph, storages, nodes, within)
        total.peak = needs + held(graph)
        return GraphCost(graph, total, nodes, needs)

    def _within(self, graph: Graph, total: Cost) -> dict[int, Amount]:
        """Add the bodies that are called; give, by node, what they need besides what they are given."""
        found: dict[int, Amount] = {}
        for place, node in enumerate(graph.nodes):
            if rule(node.target).bodies:
                called = [
                    name for arg in (*node.args, *(value for _key, value in node.kwargs)) for name in body_names(arg)
                ]
                bodies = [self.body(name) for name in called if name in self._bodies]
                for body in bodies:
                    _add(total, body.total)
                found[place] = largest(0, *(body.needs for body in bodies))
        return found


def rewritten(graph: Graph, storages: Storages) -> Amount:
    """Return the bytes that are written into inputs: by nodes, and by whoever takes an output for an input's new value.

    A graph without copy_ leaves the writing to its caller: torch's runtime copies such outputs back.
    """
    types = {value.name: value.type for value in graph.inputs}
    types.update((name, type_) for node in graph.nodes for name, type_ in node.results if name is not None)
    sizes = Sizes()
    total: Amount = 0
    written = set()
    for node in graph.nodes:
        for kind, on in node.effects:
            if kind == "write":
                for name in map(str, on):
                    if storages.of.get(name) in storages.inputs:
                        written.add(storages.of[name])
                        total = total + _size(sizes, types.get(name))
    for output in graph.outputs:
        values = list(refs(output.value))
        if output.role == "mutated" and values and storages.of.get(values[0]) not in storages.inputs:
            total = total + _size(sizes, types.get(values[0]))
    return total


def _size(sizes: Sizes, type_: Type | None) -> Amount:
    return 0 if type_ is None else sizes.of(type_) or 0


def _add_node(total: Cost, node: Node, cost: NodeCost) -> None:
    if cost.flops is None:
        total.no_formula[node.target] += 1
    elif total.flops is not None and cost.flops != 0:
        total.flops = total.flops + cost.flops
    total.read = total.read + cost.read
    total.written = total.written + cost.written
    total.untyped += cost.untyped
    if cost.collective is not None:
        name, ranks, size = cost.collective
        _count(total.collectives, (name, ranks), Tally(1, size))
    if cost.copy is not None:
        _count(total.copies, cost.copy.kind, Tally(1, cost.copy.bytes))
    if cost.cast is not None:
        _count(total.casts, cost.cast.kind, Tally(1, cost.cast.bytes))


def _add(total: Cost, other: Cost) -> None:
    """Add a graph's or a body's cost."""
    total.nodes += other.nodes
    total.ops.update(other.ops)
    total.no_formula.update(other.no_formula)
    total.flops = None if total.flops is None or other.flops is None else total.flops + other.flops
    total.read = total.read + other.read
    total.written = total.written + other.written
    total.rewritten = total.rewritten + other.rewritten
    total.untyped += other.untyped
    total.peak = largest(total.peak, other.peak)
    for key, tally in other.collectives.items():
        _count(total.collectives, key, tally)
    for kind, tally in other.copies.items():
        _count(total.copies, kind, tally)
    for kind, tally in other.casts.items():
        _count(total.casts, kind, tally)


def _count(tallies: dict[_Key, Tally], key: _Key, tally: Tally) -> None:
    known = tallies.get(key, Tally())
    tallies[key] = Tally(known.times + tally.times, known.bytes + tally.bytes)

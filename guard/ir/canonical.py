"""Equality of graphs and programs: renamed and legally reordered nodes are equal, labels do not count. Pure.

Nodes are numbered from the outputs over ordered arguments, each use tagged with the version of the storage it reads,
so that program order matters only where effects conflict. Equal forms mean equal version-tagged graphs, and vice versa.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from guard.ir.collector import without_collection
from guard.ir.dead_code import dead_sinks
from guard.ir.dependence import Dependences
from guard.ir.numbering import Numbering
from guard.ir.spelling import Speller
from guard.ir.symbol_order import SymbolOrder
from guard.ir.uses import bodies_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from guard.ir.graph import CaptureError, Graph, Program

Form = tuple[object, ...]


def equal(a: Program, b: Program) -> bool:
    """Decide whether two captures mean the same. Neither the check's id nor what is carried for messages counts."""
    if a.tracer != b.tracer or [event[:3] for event in a.events] != [event[:3] for event in b.events]:
        return False
    if a.error is not None or b.error is not None:
        return a.error is not None and b.error is not None and _identity(a.error) == _identity(b.error)
    if [graph.name for graph in a.graphs] != [graph.name for graph in b.graphs]:
        return False
    with without_collection():
        return _forms(a) == _forms(b)


def canonical(graph: Graph, bodies: Sequence[Graph] = ()) -> Form:
    """Give the form that equal graphs have in common; the graph's name is not part of it.

    Args:
        graph: Any graph of a program.
        bodies: That program's bodies.
    """
    with without_collection():
        return _form(graph, _Digests({body.name: body for body in bodies}))


def _identity(error: CaptureError) -> tuple[str, str]:
    return error.kind, error.fingerprint


def _forms(program: Program) -> list[Form]:
    digests = _Digests({body.name: body for body in program.bodies})
    labels = {graph.name: _positions(graph) for graph in program.graphs}
    return [
        _form(graph, digests, labels.get(graph.name.replace("backward", "forward"), {})) for graph in program.graphs
    ]


class _Digests(dict[str, str]):
    """Bodies by their content, each looked at once: their names do not count."""

    def __init__(self, bodies: Mapping[str, Graph]) -> None:
        super().__init__()
        self._bodies = bodies

    def __missing__(self, name: str) -> str:
        body = self._bodies[name]
        for inner in bodies_of(body):
            self[inner]  # fills in: the parser has refused bodies that use themselves
        digest = self[name] = hashlib.sha256(repr(_form(body, self)).encode()).hexdigest()
        return digest


def _positions(graph: Graph) -> dict[str, int]:
    return {value.name: position for position, value in enumerate(graph.inputs)}


def _form(graph: Graph, digests: Mapping[str, str], forward: Mapping[str, int] | None = None) -> Form:
    """Build the form; forward has the positions of the inputs that a backward graph's gradients are of."""
    dependences = Dependences(graph, digests)
    numbering = Numbering(dependences)
    symbols = SymbolOrder(graph)
    _meet(graph, dependences, numbering.order, symbols)
    reached = len(numbering.order)
    dead = reached < len(graph.nodes)
    if symbols.changed or dead:
        _respell(graph, dependences, Speller(digests, symbols))
    if dead:
        results = [[symbols.type_text(type_) for _name, type_ in node.results] for node in graph.nodes]
        numbering.visit(dead_sinks(dependences, numbering, results))
        _meet(graph, dependences, numbering.order[reached:], symbols)
        _respell(graph, dependences, Speller(digests, symbols))
    return (
        *_signature(graph, symbols, forward or {}),
        *_nodes(graph, dependences, numbering, symbols),
        *_ends(dependences, numbering),
    )


def _meet(graph: Graph, dependences: Dependences, order: Sequence[int], symbols: SymbolOrder) -> None:
    """Name the symbols of these nodes by first use: of the results' types, then of the arguments."""
    nodes = graph.nodes
    symbols.meet_types(type_ for position in order for _name, type_ in nodes[position][0])
    if dependences.symbolic:
        for position in order:
            if position in dependences.symbolic:
                symbols.meet_args(nodes[position])


def _respell(graph: Graph, dependences: Dependences, speller: Speller) -> None:
    """Spell the nodes with symbols among their arguments by the symbols' canonical names."""
    for position in dependences.symbolic:
        text = speller.node(graph.nodes[position])
        dependences.uses[position] = dependences.uses[position]._replace(text=text)


def _signature(graph: Graph, symbols: SymbolOrder, forward: Mapping[str, int]) -> Form:
    positions = _positions(graph)
    storage: list[int] = []
    for position, value in enumerate(graph.inputs):
        storage.append(position if value.alias is None else storage[positions[value.alias]])
    return (
        [(value.role, symbols.type_text(value.type)) for value in graph.inputs],
        storage,
        [
            (output.role, output.type and symbols.type_text(output.type), _of(output.of, positions, forward))
            for output in graph.outputs
        ],
        sorted(map(symbols.expr_text, graph.where)),
        (graph.in_tree, graph.out_tree, graph.device),
    )


def _of(name: str | None, own: Mapping[str, int], forward: Mapping[str, int]) -> object:
    """Give an input by its place; one that neither this graph nor its forward has is known by its label alone."""
    if name is None or name in own:
        return None if name is None else own[name]
    return ("forward", forward[name]) if name in forward else name


def _nodes(graph: Graph, dependences: Dependences, numbering: Numbering, symbols: SymbolOrder) -> list[object]:
    """Give each node's use, then its results: flat, for a hundred thousand small lists are slow to make."""
    form: list[object] = []
    nodes, uses, text = graph.nodes, dependences.uses, symbols.type_text
    for position in numbering.order:
        results = nodes[position][0]
        numbering.renumber(uses[position], form)
        form.append(text(results[0][1]) if len(results) == 1 else tuple([text(type_) for _name, type_ in results]))
    return form


def _ends(dependences: Dependences, numbering: Numbering) -> Form:
    outputs: list[object] = []
    for output in dependences.outputs:
        numbering.renumber(output, outputs)
    return (
        outputs,
        [numbering.node(root) for root in dependences.last_writers],
        sorted((link, numbering.node(last)) for link, last in dependences.chains.items()),
        [numbering.node(barrier) for barrier in dependences.barriers],
    )

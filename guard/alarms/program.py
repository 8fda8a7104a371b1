"""All alarms of one capture, and what its tracer cannot show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.alarms import dead, effects, inputs
from guard.alarms.alarm import Alarm, Unseen
from guard.alarms.reading import Reading
from guard.ir.collector import without_collection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.ir.graph import Graph, Program

_ELIMINATED = "AOTAutograd drops dead nodes before it hands its graphs on"
_UNMARKED = "nothing in its graph says what is backward"
_IN_PLACE = "it keeps writes as they were made"
# tracer -> what its graphs cannot show
_UNSEEN = {
    "make_fx": (Unseen("backward-random", _UNMARKED), Unseen("lost-mutation", _IN_PLACE)),
    "aot_joint": (),
    "compile": (
        Unseen("dead-node", _ELIMINATED),
        Unseen("unused-input", "Dynamo gives a graph no input that it does not use"),
    ),
    "graph_module": (Unseen("backward-random", _UNMARKED),),
}


def alarms(program: Program, dropped: Sequence[Graph] = ()) -> tuple[Alarm, ...]:
    """Return every sign of wrongness in a capture's graphs, in their order; nothing for one that failed.

    Args:
        program: the capture, or a baseline as it was read.
        dropped: graphs as they were before their dead nodes were dropped, where the tracer saw them.
    """
    with without_collection():
        return tuple(_all(program, dropped))


def _all(program: Program, dropped: Sequence[Graph]) -> list[Alarm]:
    found = [alarm for graph in program.graphs for alarm in _graph(graph)]
    found += [alarm for body in program.bodies for alarm in _body(body)]
    found += _between(program.graphs)
    for graph in dropped:
        reading = Reading(graph)
        dropping = (*dead.dead_nodes(reading, functionalized=True), *_dead_globals(reading))
        # the node is not in the graph that is shown: only its text can be told
        found += [alarm._replace(node=None, why=f"{alarm.why}; dropped since") for alarm in dropping]
    return found


def unseen(program: Program, *, live: bool) -> tuple[Unseen, ...]:
    """Return what the alarms say nothing of, and why.

    Args:
        program: the capture.
        live: it was captured just now; a file has no graph from before dead nodes were dropped.
    """
    name = program.tracer.partition("(")[0]
    found = _UNSEEN.get(name, ())
    return found if live or name != "aot_joint" else (*found, Unseen("dead-node", _ELIMINATED))


def _graph(graph: Graph) -> Iterator[Alarm]:
    reading = Reading(graph)
    yield from inputs.unused_inputs(reading)
    yield from inputs.constants(reading)
    yield from dead.global_shapes(reading)
    yield from dead.dead_nodes(reading)
    yield from effects.lost_mutations(reading)
    yield from effects.backward_draws(reading)
    yield from effects.hidden_detaches(reading)


def _body(body: Graph) -> Iterator[Alarm]:
    """Look at a body: an operand that one branch alone uses is ordinary, and so are its constants."""
    reading = Reading(body)
    yield from dead.dead_nodes(reading)


def _dead_globals(reading: Reading) -> Iterator[Alarm]:
    return (alarm for alarm in dead.global_shapes(reading) if alarm.node is not None)


def _between(graphs: tuple[Graph, ...]) -> list[Alarm]:
    """Find the draws of a backward graph of ``torch.compile`` where no forward graph draws."""
    readings = [Reading(graph) for graph in graphs if len(graphs) > 1]
    backward = [one for one in readings if one.graph.name.startswith("backward")]
    if not backward or any(one.draws for one in readings if one not in backward):
        return []
    return [effects.draw_alarm(one.graph, position) for one in backward for position in reversed(one.draws)]

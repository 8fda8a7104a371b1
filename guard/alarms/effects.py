"""Writes that are computed and not made, random numbers that only the backward draws, detaches nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.alarms.alarm import Alarm
from guard.alarms.reading import needs
from guard.alarms.spelling import spelled
from guard.ir.graph import Ref
from guard.ir.types import DTensorType, SubclassType, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.alarms.reading import Reading
    from guard.ir.graph import Graph, Node

# Functional operators return what their mutable form writes: result -> argument (torch's native_functions.yaml)
_WRITES = {
    "aten._native_batch_norm_legit_functional.default": {3: 3, 4: 4},
    "aten._fused_moving_avg_obs_fq_helper_functional.default": {2: 3, 3: 4, 4: 5, 5: 6},
}


def lost_mutations(reading: Reading) -> Iterator[Alarm]:
    """Find inputs that are said to be mutated and are returned as they came, and functional results never written."""
    for output in reading.graph.outputs:
        if output.role == "mutated" and output.value == Ref(output.of or "") and not _written(reading, output.of):
            yield Alarm(
                "lost-mutation", reading.graph.name, f"%{output.of}", "it is mutated, and comes back as it was",
                input=output.of,
            )  # fmt: skip
    names = {value.name for value in reading.graph.inputs}
    for position, node in enumerate(reading.graph.nodes):
        slots = _WRITES.get(node.target)
        if slots is not None:
            yield from _unwritten(reading, position, node, slots, names)


def _unwritten(reading: Reading, position: int, node: Node, slots: dict[int, int], names: set[str]) -> Iterator[Alarm]:
    for slot, place in slots.items():
        arg = node.args[place] if place < len(node.args) else None
        if not isinstance(arg, Ref) or arg.name not in names or slot >= len(node.results):
            continue
        result = node.results[slot].name
        if result is None or not (_written(reading, arg.name) or _returned(reading.graph, result)):
            why = f'its new "%{arg.name}" is never written: no copy_'
            yield Alarm("lost-mutation", reading.graph.name, spelled(node), why, position, arg.name, node.source)


def _written(reading: Reading, name: str | None) -> bool:
    return any(kind == "write" and name in on for node in reading.graph.nodes for kind, on in node.effects)


def _returned(graph: Graph, name: str) -> bool:
    return any(output.value == Ref(name) for output in graph.outputs)


def backward_draws(reading: Reading) -> Iterator[Alarm]:
    """Find draws of the backward of a joint graph whose forward has none: what it recomputes is something else."""
    nodes = reading.graph.nodes
    if all("backward" in nodes[position].tags for position in reading.draws):
        for position in reversed(reading.draws):
            yield draw_alarm(reading.graph, position)


def draw_alarm(graph: Graph, position: int) -> Alarm:
    """Return the alarm of one draw."""
    node = graph.nodes[position]
    why = "the backward draws it, and the forward draws nothing"
    return Alarm("backward-random", graph.name, spelled(node), why, position, source=node.source)


def hidden_detaches(reading: Reading) -> Iterator[Alarm]:
    """Find detaches of detaches that something which requires grad depends on.

    Autograd detaches what it saves, and once more when it unpacks it: nobody writes that. It does no harm where the
    graph's results need no gradient, or where nothing depends on it.
    """
    chains = chained(reading)
    if not chains:
        return
    nodes = reading.graph.nodes
    wanted = {
        output.value.name
        for output in reading.graph.outputs
        if isinstance(output.value, Ref) and _requires_grad(output.type)
    }
    needed = needs(reading.graph, wanted) if wanted else set()
    for position in chains:
        if nodes[position].results[0].name in needed:
            why = "a detach of a detach, as autograd makes them: an output that requires grad depends on it"
            yield Alarm(
                "hidden-detach", reading.graph.name, spelled(nodes[position]), why, position,
                source=nodes[position].source,
            )  # fmt: skip


def chained(reading: Reading) -> list[int]:
    """Return the detaches whose operand is a detach and that no further one takes."""
    nodes = reading.graph.nodes
    named = ((nodes[position].results[0].name, position) for position in reading.detaches)
    made = {name: position for name, position in named if name is not None}
    if len(made) < 2:  # noqa: PLR2004 - a chain has two
        return []
    operands = {position: _operand(nodes[position]) for position in reading.detaches}
    chains = [position for position, name in operands.items() if name in made]
    taken = {made[name] for name in operands.values() if name in made}
    return [position for position in reversed(chains) if position not in taken]


def _operand(node: Node) -> str | None:
    arg = node.args[0] if node.args else None
    return arg.name if isinstance(arg, Ref) else None


def _requires_grad(found: object) -> bool:
    if isinstance(found, (DTensorType, SubclassType)):
        return found.full.requires_grad
    return isinstance(found, TensorType) and found.requires_grad

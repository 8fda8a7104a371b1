"""Pure nodes that nothing depends on, and among those what has the shape of a whole DTensor."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from guard.alarms.alarm import Alarm
from guard.alarms.reading import COPIES, DETACH, reaches, uses
from guard.alarms.spelling import spelled
from guard.ir.types import DTensorType, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.alarms.reading import Reading
    from guard.ir.graph import Node
    from guard.ir.types import Dim


def dead_nodes(reading: Reading, *, functionalized: bool = False) -> Iterator[Alarm]:
    """Find the last nodes of what is dead: one alarm says how many stand behind it.

    Not among them, because ordinary programs are full of it: what autograd saves and nobody asks for (a detach, or
    several in a row), sizes, tensors without elements (batch norm's reserve), constants, and copies of what is alive
    (the state of a recurrent layer, which the program did not take).

    Args:
        reading: of the graph.
        functionalized: it was, and not cleaned since: a write leaves the view that it was made through.
    """
    nodes = reading.graph.nodes
    for position, behind in sorted(_behind(reading).items()):
        node = nodes[position]
        if not _is_worth_telling(node):
            continue
        if (functionalized or node.target in COPIES) and all(_moves(nodes[one]) for one in (position, *behind)):
            continue
        more = f", with {len(behind)} more behind it" if behind else ""
        why = f"nothing uses it{more}"
        yield Alarm("dead-node", reading.graph.name, spelled(node), why, position, source=node.source)


def _is_worth_telling(node: Node) -> bool:
    return node.target not in (DETACH, "constant") and any(
        isinstance(result.type, TensorType) and 0 not in result.type.shape for result in node.results
    )


def _moves(node: Node) -> bool:
    """Tell whether a node computes nothing: a view or a copy."""
    return node.target in COPIES or any(kind == "alias" for kind, _on in node.effects)


def _behind(reading: Reading) -> dict[int, list[int]]:
    """Return the dead nodes that no other one uses -> the dead ones behind each, counted with the last that uses them.

    A detach that nobody uses is none: what it took is, where that is dead too.
    """
    nodes = reading.graph.nodes
    sinks: dict[str, int] = {}
    """Dead value -> the sink that uses it, through others too."""
    behind: dict[int, list[int]] = {}
    for position in reading.dead:  # from the last to the first: users before what they use
        node = nodes[position]
        sink = next((sinks[name] for name, _type in node.results if name is not None and name in sinks), None)
        if sink is None:
            if node.target == DETACH:
                continue
            sink = position
            behind[position] = []
        elif node.target != "constant":
            behind[sink].append(position)
        for name in uses(node):
            if name in reading.lost:
                sinks.setdefault(name, sink)
    return behind


def global_shapes(reading: Reading) -> Iterator[Alarm]:
    """Find dead nodes of the shape of a whole DTensor, which no collective gave it, and shards larger than theirs.

    Where the signature has plain local tensors, a whole one is taken to be that of an input times the ranks of a
    collective of the graph.
    """
    yield from _oversized(reading)
    nodes = reading.graph.nodes
    if not reading.dead:
        return
    whole = _whole_shapes(reading)
    found = [position for position in reversed(reading.dead) if _shape_of(nodes[position]) in whole]
    if not found:
        return
    gathered = _gathered(reading)
    for position in found:
        node = nodes[position]
        if any(name in gathered for name in uses(node)):
            continue
        why = "it has the shape of a whole tensor, where a rank holds a shard, and nothing uses it"
        yield Alarm("global-shape", reading.graph.name, spelled(node), why, position, source=node.source)


def _gathered(reading: Reading) -> set[str]:
    """Return what depends on a collective."""
    sources = {
        result.name
        for node in reading.graph.nodes
        for result in node.results
        if result.name is not None and any(kind == "comm" for kind, _on in node.effects)
    }
    return reaches(reading.graph, sources)


def _shape_of(node: Node) -> tuple[Dim, ...] | None:
    found = node.results[0].type if node.results else None
    return found.shape if isinstance(found, TensorType) else None


def _whole_shapes(reading: Reading) -> set[tuple[Dim, ...]]:
    """Return the shapes that only whole tensors have: none of them is one of the signature's local ones."""
    types = [*(value.type for value in reading.graph.inputs), *(value.type for value in reading.graph.outputs)]
    sharded = {one.full.shape for one in types if isinstance(one, DTensorType) and one.full.shape != one.local.shape}
    local = {one.local.shape for one in types if isinstance(one, DTensorType)}
    plain = [value.type.shape for value in reading.graph.inputs if isinstance(value.type, TensorType)]
    for ranks in reading.ranks:
        if ranks > 1:
            sharded.update(
                (*shape[:dim], size * ranks, *shape[dim + 1 :])
                for shape in plain
                for dim, size in enumerate(shape)
                if isinstance(size, int)
            )
    return sharded - local - set(plain)


def _oversized(reading: Reading) -> Iterator[Alarm]:
    """Find inputs and outputs whose local tensor is larger than any shard of the whole can be."""
    places = [(f"%{value.name}", value.name, value.type) for value in reading.graph.inputs]
    places += [(f"output {nth}", "", value.type) for nth, value in enumerate(reading.graph.outputs) if value.type]
    for subject, name, found in places:
        if isinstance(found, DTensorType) and (wanted := _too_large(found)) is not None:
            why = f"wanted a local tensor of at most {wanted[1]} in dimension {wanted[0]}, got {wanted[2]}"
            yield Alarm("global-shape", reading.graph.name, subject, why, input=name or None)


def _too_large(found: DTensorType) -> tuple[int, int, int] | None:
    """Return (dimension, most, got) of the first that is larger than the first rank's shard (torch.chunk's rule)."""
    most: list[Dim] = list(found.full.shape)
    sharded = set()
    for size, placement in zip(found.mesh.shape, found.placements, strict=False):
        if placement.startswith("S(") and placement[2:-1].isdigit():
            dim = int(placement[2:-1])
            whole = most[dim] if dim < len(most) else None
            if isinstance(whole, int):
                most[dim] = ceil(whole / size)
                sharded.add(dim)
    for dim in sorted(sharded):
        limit, got = most[dim], found.local.shape[dim] if dim < len(found.local.shape) else None
        if isinstance(limit, int) and isinstance(got, int) and got > limit:
            return dim, limit, got
    return None

"""Inputs that nothing depends on, and constants that stand in their place or hold nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.alarms.alarm import Alarm
from guard.alarms.spelling import spelled
from guard.ir.graph import Digest, Ref
from guard.ir.types import DTensorType, SubclassType, TensorType
from guard.ir.uses import leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.alarms.reading import Reading
    from guard.ir.graph import Arg, Graph, Input
    from guard.ir.types import Type

# A buffer that evaluation does not read (num_batches_tracked) is as ordinary as a number that was specialized.
_ROLES = frozenset(("input", "parameter", "tangent"))
_NO_BYTES = "no-bytes"


def unused_inputs(reading: Reading) -> Iterator[Alarm]:
    """Find tensors of the signature that no output and no effect depends on.

    A further name of a tied parameter is no input of its own. What may have been asked for its sizes alone is left out.
    """
    for value in unused(reading):
        yield Alarm(
            "unused-input", reading.graph.name, f"%{value.name}", "no output or write depends on it", input=value.name
        )


def unused(reading: Reading) -> list[Input]:
    """Return the inputs that this is about."""
    return [
        value
        for value in reading.graph.inputs
        if value.name not in reading.live
        and value.role in _ROLES
        and value.alias is None
        and isinstance(value.type, (TensorType, DTensorType, SubclassType))
        and not _gave_sizes(reading.graph, value.type)
    ]


def _gave_sizes(graph: Graph, found: Type) -> bool:
    """Tell whether a plain tensor may have been asked for its sizes alone, which the graph holds as numbers.

    ``b.expand_as(a)`` and ``torch.arange(len(a))`` are ordinary: a size of more than 1 among the graph's literals.
    """
    if not isinstance(found, TensorType):
        return False
    sizes = {size for size in found.shape if size != 1}
    if not sizes:
        return False
    args = (arg for node in graph.nodes for arg in (*node.args, *(value for _key, value in node.kwargs)))
    return any(
        type(leaf) is not bool and leaf in sizes for arg in args for leaf in leaves(arg) if type(leaf) is not Ref
    )


def constants(reading: Reading) -> Iterator[Alarm]:
    """Find constants without bytes, and those of the type of an input that nothing uses."""
    missing = {_bare(value.type): value.name for value in reversed(unused(reading))}
    for position in reversed(reading.constants):
        node = reading.graph.nodes[position]
        (result,), (arg,) = node.results, node.args
        name = missing.get(_bare(result.type))
        if _is_fake(arg):
            yield _alarm("fake-constant", reading.graph, position, "it has no bytes: a value of the trace itself")
        if name is not None and not _is_scalar(result.type):
            why = f'it has the type of "%{name}", which nothing uses: was that input baked in?'
            yield _alarm("baked-input", reading.graph, position, why)


def _alarm(kind: str, graph: Graph, position: int, why: str) -> Alarm:
    node = graph.nodes[position]
    return Alarm(kind, graph.name, spelled(node), why, position, source=node.source)


def _is_fake(arg: Arg) -> bool:
    if isinstance(arg, tuple) and not isinstance(arg, Digest):
        return any(_is_fake(part) for part in arg)
    return isinstance(arg, Digest) and arg.text == _NO_BYTES


def _bare(found: Type) -> Type:
    """Return the type that the graph computes with."""
    local = found.local if isinstance(found, (DTensorType, SubclassType)) else found
    if not isinstance(local, TensorType):
        return local
    return TensorType(local.dtype, local.shape, device=local.device)


def _is_scalar(found: Type) -> bool:
    """Tell whether a constant is a number: every program has some, and inputs of no dimension are ordinary."""
    return isinstance(found, TensorType) and not found.shape

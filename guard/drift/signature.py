"""What differs between two graphs around their nodes: inputs, outputs, pytrees, constraints, device. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.drift.edits import Edit, edits
from guard.ir.arg_text import one_line, print_arg, print_ref
from guard.ir.expr_text import print_expr
from guard.ir.type_text import print_type
from guard.ir.types import DTensorType, ScalarType, SubclassType, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.drift.align import Alignment
    from guard.drift.causes import Gathering
    from guard.drift.partners import Symbols
    from guard.ir.graph import Graph, Input, Output
    from guard.ir.types import Type

ALIASING = frozenset(("alias", "mutated"))


class Item(NamedTuple):
    """One thing that differs."""

    kind: str
    """signature, mutation, specialization or type."""
    label: str
    """``input %x``."""
    was: str | None
    """As text; None where the baseline has none."""
    now: str | None


def changed_types(a: Graph, b: Graph, inputs: dict[int, int]) -> set[int]:
    """Give current's inputs whose types differ from their partners'."""
    return {j for i, j in inputs.items() if print_type(a.inputs[i].type) != print_type(b.inputs[j].type)}


def items(alignment: Alignment, gathering: Gathering, symbols: Symbols) -> list[Item]:
    """List what differs by itself: what follows from changed nodes is entered with their cause."""
    a, b = alignment.a.graph, alignment.b.graph
    return [
        *_inputs(a, b, dict(alignment.inputs), symbols),
        *_outputs(alignment, gathering),
        *_constraints(a, b),
        *_lines(a, b),
    ]


def input_text(value: Input) -> str:
    """Print an input; labels are no part of equality."""
    role = "" if value.role == "input" else f"{value.role} "
    alias = "" if value.alias is None else f" alias {print_ref(value.alias)}"
    return f"{role}{print_ref(value.name)}: {print_type(value.type)}{alias}"


def output_text(output: Output) -> str:
    """Print an output with its value."""
    of = "" if output.of is None else f" {print_ref(output.of)}"
    role = "" if output.role == "output" and not of else f"{output.role}{of} "
    type_ = "" if output.type is None else f": {print_type(output.type)}"
    return f"return {role}{one_line(print_arg(output.value))}{type_}"


def _inputs(a: Graph, b: Graph, pairs: dict[int, int], symbols: Symbols) -> Iterator[Item]:
    positions = {value.name: position for position, value in enumerate(b.inputs)}
    mapped = {a.inputs[i].name: b.inputs[j].name for i, j in pairs.items()}
    for i, one in enumerate(a.inputs):
        if i not in pairs:
            yield Item("signature", f"input {print_ref(one.name)}", input_text(one), None)
            continue
        other = b.inputs[pairs[i]]
        was, now = input_text(one._replace(name=other.name, alias=None)), input_text(other._replace(alias=None))
        aliased = (mapped.get(one.alias) if one.alias else None) != other.alias
        if was != now or aliased:
            kind = _input_kind(one, other, symbols) if was != now else "mutation"
            yield Item(kind, f"input {print_ref(other.name)}", input_text(one), input_text(other))
    for j, other in enumerate(b.inputs):
        if j not in pairs.values():
            yield Item("signature", f"input {print_ref(other.name)}", None, input_text(other))
    order = [positions[b.inputs[j].name] for _i, j in sorted(pairs.items())]
    if order != sorted(order):
        names = [", ".join(print_ref(value.name) for value in graph.inputs) for graph in (a, b)]
        yield Item("signature", "order of inputs", *names)


def _input_kind(one: Input, other: Input, symbols: Symbols) -> str:
    sizes = bool(symbols.constant or symbols.free)
    same = one.role == other.role and _apart(one.type) == _apart(other.type)
    return "specialization" if sizes and same else "signature"


def _apart(type_: Type) -> object:
    """Give a type without its sizes."""
    if isinstance(type_, TensorType):
        return type_.dtype, len(type_.shape), type_.device, type_.requires_grad, type_.layout
    if isinstance(type_, DTensorType):
        return _apart(type_.full), type_.mesh, type_.placements, _apart(type_.local)
    if isinstance(type_, SubclassType):
        return type_.name, type_.attribute, _apart(type_.full), _apart(type_.local)
    return type_.kind.removeprefix("Sym").lower() if isinstance(type_, ScalarType) else print_type(type_)


def _outputs(alignment: Alignment, gathering: Gathering) -> Iterator[Item]:
    a, b = alignment.a, alignment.b
    values_a, values_b = a.outputs(), b.outputs()
    inputs = {a.graph.inputs[i].name: b.graph.inputs[j].name for i, j in alignment.inputs.items()}
    ones = [output._replace(of=inputs.get(output.of, output.of) if output.of else None) for output in a.graph.outputs]
    for i, j in _output_pairs(alignment, ones):
        if i is None or j is None:
            text = output_text(ones[i]) if i is not None else None
            yield Item("signature", "outputs", text, None if j is None else output_text(b.graph.outputs[j]))
            continue
        one, other = ones[i], b.graph.outputs[j]
        moved = gathering.output(j, values_a[i], values_b[j])
        literal = not values_a[i] and not values_b[j] and print_arg(one.value) != print_arg(other.value)
        kind = _output_kind(one, other, follows=gathering.follows(j), moved=moved or literal)
        if kind is not None:
            yield Item(kind, f"output {j}", output_text(one), output_text(other))


def _output_kind(one: Output, other: Output, *, follows: bool, moved: bool) -> str | None:
    if (one.role, one.of) != (other.role, other.of) and not follows:
        return "mutation" if {one.role, other.role} & ALIASING else "signature"
    if moved or (one.type is None) != (other.type is None):
        return "signature"
    if one.type is None or other.type is None or print_type(one.type) == print_type(other.type):
        return None
    return None if follows and _outer(one.type) == _outer(other.type) else "signature"


def _outer(type_: Type) -> object:
    """Give what no node of the graph computes: placements, mesh, requires_grad."""
    if isinstance(type_, DTensorType):
        return type_.mesh, type_.placements, type_.full.requires_grad
    if isinstance(type_, SubclassType):
        return type_.name, type_.attribute, type_.full.requires_grad
    return isinstance(type_, TensorType) and type_.requires_grad


def _output_pairs(alignment: Alignment, ones: list[Output]) -> Iterator[tuple[int | None, int | None]]:
    outputs = alignment.b.graph.outputs
    if len(ones) == len(outputs):
        yield from ((place, place) for place in range(len(ones)))
        return
    keys_a = [
        (one.role, one.of, *map(alignment.value, alignment.a.used(one.value))) if alignment.a.used(one.value)
        else print_arg(one.value)
        for one in ones
    ]  # fmt: skip
    keys_b = [
        (other.role, other.of, *alignment.b.used(other.value)) if alignment.b.used(other.value)
        else print_arg(other.value)
        for other in outputs
    ]  # fmt: skip
    i = j = 0
    for edit in [*edits(keys_a, keys_b), Edit(len(ones), len(ones), len(outputs), len(outputs))]:
        yield from zip(range(i, edit.a), range(j, edit.c), strict=True)
        if edit.b - edit.a == edit.d - edit.c:
            yield from zip(range(edit.a, edit.b), range(edit.c, edit.d), strict=True)
        else:
            yield from ((place, None) for place in range(edit.a, edit.b))
            yield from ((None, place) for place in range(edit.c, edit.d))
        i, j = edit.b, edit.d


def _constraints(a: Graph, b: Graph) -> Iterator[Item]:
    was, now = [print_expr(expr) for expr in a.where], [print_expr(expr) for expr in b.where]
    for text in was:
        if text not in now:
            yield Item("specialization", f"without {text}", f"where {text}", None)
    for text in now:
        if text not in was:
            yield Item("specialization", f"where {text}", None, f"where {text}")


def _lines(a: Graph, b: Graph) -> Iterator[Item]:
    if a.in_tree != b.in_tree:
        yield Item("signature", "tree of inputs", f"inputs {a.in_tree or 'flat'}", f"inputs {b.in_tree or 'flat'}")
    if a.out_tree != b.out_tree:
        yield Item("signature", "tree of outputs", f"outputs {a.out_tree or 'flat'}", f"outputs {b.out_tree or 'flat'}")
    if a.device != b.device:
        yield Item("type", "device", f"device {a.device}", f"device {b.device}")

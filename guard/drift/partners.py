"""Pair what two signatures share: inputs, and the symbols of their shapes. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.drift.edits import Edit, edits
from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import rename
from guard.ir.graph import Mapping, Slice
from guard.ir.types import DTensorType, ListType, ScalarType, SubclassType, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.ir.graph import Graph, Node
    from guard.ir.types import Type


def pair_inputs(a: Graph, b: Graph) -> dict[int, int]:
    """Give each input of ``a`` its partner in ``b``, by position.

    Names are no part of equality, but a hint: they tell a changed order from changed types, and where inputs are more
    or fewer, which ones stayed - unless roles and types tell it with fewer edits (names that count positions shift).
    """
    names_a, names_b = [value.name for value in a.inputs], [value.name for value in b.inputs]
    if len(names_a) == len(names_b):
        if set(names_a) == set(names_b):
            return {position: names_b.index(name) for position, name in enumerate(names_a)}
        return dict(zip(range(len(names_a)), range(len(names_b)), strict=True))
    by_name = edits(names_a, names_b)
    kinds_a, kinds_b = ([(value.role, value.type) for value in graph.inputs] for graph in (a, b))
    by_kind = edits(kinds_a, kinds_b)
    best = min(by_name, by_kind, key=lambda found: sum(edit.b - edit.a + edit.d - edit.c for edit in found))
    return dict(_kept(best, len(names_a), len(names_b)))


def _kept(found: Sequence[Edit], length_a: int, length_b: int) -> Iterator[tuple[int, int]]:
    i = j = 0
    for edit in [*found, Edit(length_a, length_a, length_b, length_b)]:
        yield from zip(range(i, edit.a), range(j, edit.c), strict=True)
        if edit.b - edit.a == edit.d - edit.c:
            yield from zip(range(edit.a, edit.b), range(edit.c, edit.d), strict=True)
        i, j = edit.b, edit.d


class Symbols(NamedTuple):
    """What became of the symbols of paired inputs."""

    names: dict[str, str]
    """Of current -> of the baseline."""
    constant: dict[str, int | str]
    """Symbols of the baseline that are numbers now, or another symbol."""
    free: dict[str, int | str]
    """Symbols of current that were numbers, or another symbol."""


def pair_symbols(a: Graph, b: Graph, inputs: dict[int, int]) -> Symbols:
    """Pair symbols that stand in one place of paired inputs; others keep their names unless those are taken."""
    found = Symbols({}, {}, {})
    for i, j in inputs.items():
        for one, other in zip(_dims(a.inputs[i].type), _dims(b.inputs[j].type)):  # noqa: B905 - ranks may differ
            if type(one) is Symbol and type(other) is Symbol:
                _pair(found, one.name, other.name)
            elif type(one) is Symbol and type(other) is int:
                found.constant.setdefault(one.name, other)
            elif type(one) is int and type(other) is Symbol:
                found.free.setdefault(other.name, one)
    return found


def _pair(found: Symbols, one: str, other: str) -> None:
    """Enter two symbols of one place; where one of them has a partner elsewhere, two became one or one became two."""
    known = found.names.get(other)
    if known is not None and known != one:
        found.constant.setdefault(one, known)
    elif known is None and one in found.names.values():
        found.free.setdefault(other, one)
    else:
        found.names[other] = one


def with_names(graph: Graph, names: dict[str, str]) -> Graph:
    """Rename the symbols of a graph; one whose own name another has taken gets a prime."""
    if all(old == new for old, new in names.items()):
        return graph
    return _Renamer(names).graph(graph)


class _Renamer(dict[str, str]):
    """Old name -> new name."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__(names)
        self._taken = set(names.values())

    def __missing__(self, name: str) -> str:
        new = self[name] = f"{name}'" if name in self._taken else name
        return new

    def graph(self, graph: Graph) -> Graph:
        return replace(
            graph,
            inputs=tuple(value._replace(type=self.type(value.type)) for value in graph.inputs),
            nodes=tuple(map(self.node, graph.nodes)),
            outputs=tuple(
                output._replace(value=self.arg(output.value), type=output.type and self.type(output.type))
                for output in graph.outputs
            ),
            where=tuple(rename(expr, self) for expr in graph.where),
        )

    def node(self, node: Node) -> Node:
        return node._replace(
            results=tuple(result._replace(type=self.type(result.type)) for result in node.results),
            args=self.arg(node.args),
            kwargs=tuple((key, self.arg(value)) for key, value in node.kwargs),
        )

    def arg(self, arg: Any) -> Any:
        if isinstance(arg, (Symbol, Apply)):
            return rename(arg, self)
        if isinstance(arg, Slice):
            return Slice(*map(self.arg, arg))
        if isinstance(arg, Mapping):
            return Mapping(tuple((key, self.arg(value)) for key, value in arg.items))
        return tuple(map(self.arg, arg)) if type(arg) is tuple else arg

    def type(self, type_: Type) -> Type:
        if isinstance(type_, (DTensorType, SubclassType)):
            return replace(type_, full=self.tensor(type_.full), local=self.tensor(type_.local))
        if isinstance(type_, ListType):
            return ListType(tuple(map(self.type, type_.items)))
        if isinstance(type_, ScalarType) and isinstance(type_.value, (Symbol, Apply)):
            return replace(type_, value=rename(type_.value, self))
        return self.tensor(type_) if isinstance(type_, TensorType) else type_

    def tensor(self, type_: TensorType) -> TensorType:
        return replace(
            type_,
            shape=tuple(rename(dim, self) for dim in type_.shape),
            stride=None if type_.stride is None else tuple(rename(dim, self) for dim in type_.stride),
            offset=rename(type_.offset, self),
        )


def _dims(type_: Type) -> list[Any]:
    """Give the sizes of a tensor, outer and inner, or the value of a number."""
    if isinstance(type_, TensorType):
        return list(type_.shape)
    if isinstance(type_, (DTensorType, SubclassType)):
        return [*type_.full.shape, *type_.local.shape]
    return [type_.value] if isinstance(type_, ScalarType) else []

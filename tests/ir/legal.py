"""Legal reorders and renames by the plainest reading of docs/grammar.md: an oracle without canonical's code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.ir import graph as ir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random


def map_refs(arg: Any, rename: Callable[[str], str]) -> Any:
    """Rename the values in an argument."""
    if isinstance(arg, ir.Ref):
        return ir.Ref(rename(arg.name))
    if isinstance(arg, ir.Slice):
        return ir.Slice(*(map_refs(part, rename) for part in arg))
    if isinstance(arg, ir.Mapping):
        return ir.Mapping(tuple((key, map_refs(value, rename)) for key, value in arg.items))
    return tuple(map_refs(item, rename) for item in arg) if type(arg) is tuple else arg


def used(arg: Any) -> set[str]:
    """Name the values in an argument."""
    found: set[str] = set()

    def note(name: str) -> str:
        found.add(name)
        return name

    map_refs(arg, note)
    return found


def storages(graph: ir.Graph) -> dict[str, frozenset[str]]:
    """Give each value the set of those that it may share storage with: merged until nothing changes."""
    groups = [{value.name, value.alias} for value in graph.inputs if value.alias is not None]
    for node in graph.nodes:
        results = {result.name for result in node.results if result.name is not None}
        groups += [
            results | set(map(str, effect.on)) for effect in node.effects if effect.kind == "alias" and effect.on
        ]
    storage: dict[str, frozenset[str]] = {}
    for _ in groups:  # each round carries every set one join further
        for group in groups:
            union = frozenset(group).union(*(storage.get(name, frozenset()) for name in group))
            storage.update(dict.fromkeys(union, union))
    return storage


def _storage(names: set[str], known: Mapping[str, frozenset[str]]) -> set[str]:
    return {other for name in names for other in known.get(name, {name})}


class Access:
    """What one node reads, writes and is ordered by."""

    def __init__(self, node: ir.Node, known: Mapping[str, frozenset[str]]) -> None:
        on: dict[str, set[Any]] = {}
        for effect in node.effects:
            on.setdefault(effect.kind, set()).update(effect.on or (None,))  # "" may be a name
        self.kinds = set(on)
        self.draws = on.get("rng", set())
        self.reads = used((node.args, tuple(value for _key, value in node.kwargs)))
        self.reads |= (on.get("alias", set()) | on.get("write", set())) - {None}
        self.defines = {result.name for result in node.results if result.name is not None}
        self.touched = _storage(self.reads, known)
        self.written = _storage(on.get("write", set()) - {None}, known)

    def conflicts(self, earlier: Access) -> bool:
        """Tell whether this node must stay behind an earlier one."""
        if self.reads & earlier.defines or (self.kinds | earlier.kinds) & {"mode", "barrier"}:
            return True
        if self.draws & earlier.draws or "comm" in self.kinds & earlier.kinds:
            return True
        return bool(self.written & earlier.touched or earlier.written & self.touched)


def reorder(graph: ir.Graph, random: Random) -> ir.Graph:
    """Draw another order of the nodes that keeps every conflict."""
    known = storages(graph)
    access = [Access(node, known) for node in graph.nodes]
    left = list(range(len(access)))
    order = []
    while left:
        free = [a for place, a in enumerate(left) if not any(access[a].conflicts(access[b]) for b in left[:place])]
        order.append(random.choice(free))
        left.remove(order[-1])
    return replace(graph, nodes=tuple(graph.nodes[position] for position in order))


def rename(graph: ir.Graph) -> ir.Graph:
    """Give every value another name, and drop labels."""
    new = {value.name: f"in{place}" for place, value in enumerate(graph.inputs)}
    for result in (result for node in graph.nodes for result in node.results if result.name is not None):
        new[str(result.name)] = f"v{len(new)}"
    look = new.__getitem__
    inputs = tuple(
        value._replace(name=new[value.name], labels=(), alias=None if value.alias is None else new[value.alias])
        for value in graph.inputs
    )
    outputs = tuple(
        output._replace(value=map_refs(output.value, look), of=output.of if output.of is None else new[output.of])
        for output in graph.outputs
    )
    return replace(graph, inputs=inputs, nodes=tuple(_rename_node(node, new) for node in graph.nodes), outputs=outputs)


def _rename_node(node: ir.Node, new: Mapping[str, str]) -> ir.Node:
    look = new.__getitem__
    return node._replace(
        results=tuple(
            result._replace(name=None if result.name is None else new[result.name]) for result in node.results
        ),
        args=map_refs(node.args, look),
        kwargs=tuple((key, map_refs(value, look)) for key, value in node.kwargs),
        effects=tuple(
            effect._replace(on=tuple(look(str(name)) for name in effect.on))
            if effect.kind in ("alias", "write")
            else effect
            for effect in node.effects
        ),
    )

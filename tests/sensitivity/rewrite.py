"""Rewrites that change nothing: each must leave the graph equal to its baseline."""

from __future__ import annotations

import importlib
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.expr import Symbol
from guard.ir.graph import Body
from guard.ir.parser import parse_bytes
from guard.ir.printer import print_program
from tests.ir import legal
from tests.sensitivity.draft import Draft, Node, Part, is_collective, is_pure, is_write
from tests.sensitivity.mutate.collective import group

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from guard.ir.graph import Graph, Program


def rename_nodes(draft: Draft, random: Random) -> bool:
    for part in draft.parts:
        for place, node in enumerate(part.nodes):
            node._rename(f"other_{random.randrange(10**6)}_{place}")
    return True


def rename_attributes(draft: Draft, random: Random) -> bool:
    found = False
    for part in draft.parts:
        for place, node in enumerate(part.nodes):
            if node.op == "get_attr" and "." not in str(node.target):
                name = f"_other_{random.randrange(10**6)}_{place}"
                setattr(part.module, name, getattr(part.module, str(node.target)))
                node.target = name
                found = True
    return found


def reorder_graph(draft: Draft, random: Random) -> bool:
    before = [part.nodes for part in draft.parts]
    for part in draft.parts:
        _reorder(part, random)
    return before != [part.nodes for part in draft.parts]


def _reorder(part: Part, random: Random) -> None:
    """Draw a topological order. Nothing moves over a write; of what is not pure nothing overtakes."""
    nodes = part.nodes
    before = {node: set(node.all_input_nodes) for node in nodes}
    wall: list[Node] = []
    since: list[Node] = []
    last: Node | None = None
    for node in nodes[len(part.placeholders) : -1]:
        before[node] |= set(wall[-1:])
        if not _free(node):
            before[node] |= {last} if last is not None else set()
            last = node
        if is_write(node) or (
            node.op == "call_function" and not hasattr(node.target, "_schema") and not _is_getitem(node)
        ):
            before[node] |= set(since)
            wall.append(node)
            since = []
        else:
            since.append(node)
    left = nodes[len(part.placeholders) : -1]
    at = nodes[len(part.placeholders) - 1] if part.placeholders else None
    while left and at is not None:
        node = random.choice([node for node in left if not before[node] & set(left)])
        at.append(node)
        at = node
        left.remove(node)


def _is_getitem(node: Node) -> bool:
    return getattr(node.target, "__name__", "") == "getitem"


def _free(node: Node) -> bool:
    """Tell whether a node does nothing but compute: views do, where nothing writes in between."""
    if node.op == "get_attr" or is_pure(node) or _is_getitem(node):
        return True
    target: Any = node.target
    tags = getattr(target, "tags", ())
    return (
        getattr(target, "namespace", "") == "aten"
        and not is_write(node)
        and torch.Tag.nondeterministic_seeded not in tags
        and not is_collective(node)
    )


def drop_stack_traces(draft: Draft, random: Random) -> bool:
    del random
    kept = {"val", "tensor_meta", "partitioner_tag", "recompute", "desc"}
    for part in draft.parts:
        for node in part.nodes:
            node.meta = {key: value for key, value in node.meta.items() if key in kept}
    return True


def drop_tensor_meta(draft: Draft, random: Random) -> bool:
    del random
    for part in draft.parts:
        for node in part.nodes:
            node.meta = {key: value for key, value in node.meta.items() if key != "tensor_meta"}
    return True


def tuples_for_lists(draft: Draft, random: Random) -> bool:
    del random
    found = False
    for part in draft.parts:
        for node in part.calls():
            args = tuple(tuple(arg) if isinstance(arg, list) else arg for arg in node.args)
            found = found or any(isinstance(arg, list) for arg in node.args)
            node.args = args
    return found


def renumber_groups(draft: Draft, random: Random) -> bool:
    """Name each group by another one of the same ranks, of two that are made now."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    found = False
    for part in draft.parts:
        for node in part.calls():
            if is_collective(node) and isinstance(node.args[-1], str):
                ranks = dist.get_process_group_ranks(c10d._resolve_process_group(node.args[-1]))
                node.args = (*node.args[:-1], random.choice([group(*ranks), group(*ranks)]))
                found = True
    return found


def canonicalize(draft: Draft, random: Random) -> bool:
    """Run torch's canonicalizer with its own rules for keys and for what may move; inputs keep their order."""
    del random
    try:
        torch_own: Any = importlib.import_module("torch.fx.passes.canonicalize")
    except ImportError:  # torch < 2.14
        return False
    for part in draft.parts:
        places = {node: place for place, node in enumerate(part.placeholders)}

        def key(node: Node, known: dict[Node, int], places: dict[Node, int] = places) -> object:
            return (0, places[node]) if node in places else torch_own._canonical_node_key(node, known)

        torch_own.canonicalize_graph(part.module.graph, key, torch_own._is_safe_to_reorder)
    return True


def rename_values(program: Program, random: Random) -> Program | None:
    del random
    graphs = tuple(legal.rename(graph) if _self_contained(graph) else graph for graph in program.graphs)
    return replace(program, graphs=graphs)


def _self_contained(graph: Graph) -> bool:
    names = {value.name for value in graph.inputs}
    return all(output.of is None or output.of in names for output in graph.outputs) and not graph.name.startswith(
        "forward"
    )


def rename_symbols(program: Program, random: Random) -> Program | None:
    offset = random.randint(1, 9)

    def other(symbol: Symbol) -> Symbol:
        return Symbol(f"{symbol.name[0]}{int(symbol.name[1:]) * 3 % 101 + offset}")

    renamed: Program = _map(program, Symbol, other)
    return None if renamed == program else renamed


def rename_bodies(program: Program, random: Random) -> Program | None:
    if not program.bodies:
        return None
    names = {body.name: f"branch_{random.randrange(10**6)}_{place}" for place, body in enumerate(program.bodies)}
    renamed: Program = _map(program, Body, lambda body: Body(names[body.name]))
    bodies = [replace(body, name=names[body.name]) for body in renamed.bodies]
    random.shuffle(bodies)
    return replace(renamed, bodies=tuple(bodies))


def _map(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """Replace every part of a class, in dataclasses, tuples and named tuples."""
    if type(value) is kind:
        return change(value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _map(getattr(value, f.name), kind, change) for f in fields(value)})
    if isinstance(value, tuple):
        parts = [_map(part, kind, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def reorder_program(program: Program, random: Random) -> Program | None:
    reordered = replace(program, graphs=tuple(legal.reorder(graph, random) for graph in program.graphs))
    return None if reordered == program else reordered


def reprint(text: bytes, random: Random) -> bytes:
    del random
    return print_program(parse_bytes(text, "baseline.graph")).encode()


def respace(text: bytes, random: Random) -> bytes:
    """Blank lines between lines at random, CRLF, a byte order mark."""
    lines = [line + b"\n" * random.randint(0, 2) for line in text.splitlines()]
    return b"\xef\xbb\xbf" + b"\n".join(lines).replace(b"\n", b"\r\n")

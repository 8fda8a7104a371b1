"""The walk over one IR graph: inputs, nodes and outputs -> a torch.fx.GraphModule."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.checkpoint import CheckpointPolicy

from guard.ir.graph import Body, Group
from guard.ir.rebuild.arguments import Arguments
from guard.ir.rebuild.constants import constant
from guard.ir.rebuild.metadata import Fakes
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.rebuild.targets import NAMESPACES, keywords, resolve, returns_many
from guard.ir.types import ListType
from guard.ir.uses import body_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.ir.graph import Graph, Node, Program

MAX_NODES = 200_000
"""Twice the largest graphs that guard is measured on: a larger file is no capture."""

# fx writes a placeholder's name into the code that it generates. make_fx's own (x_1) are kept, since a body's inputs
# have no others; any other name of a file could hide torch or self there.
_NAME = re.compile(r"[a-z][a-z0-9_]*_[0-9]+", re.ASCII)


@dataclass(frozen=True)
class Source:
    """What rebuilding may take from elsewhere than the text."""

    namespaces: frozenset[str] = NAMESPACES
    """Of operators: torch's, and those that current's capture contains."""
    constants: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """Current's, by digest; their bytes are what counts."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Of symbols: what an argument that is an expression becomes."""


def rebuild(program: Program, graph: Graph, source: Source | None = None) -> torch.fx.GraphModule:
    """Rebuild one graph: placeholders in the order of its inputs, one flat tuple of outputs.

    Every node's meta holds a fake value of its type, so that lowering the module gives the graph back.

    Args:
        program: what the graph is of; its bodies are rebuilt with it.
        graph: one of ``program.graphs``.
        source: where operators, constants and sizes come from.

    Raises:
        RefusedError: a target, an argument or a constant is outside of the closed sets, or the graph is too large.
    """
    bodies = {body.name: body for body in program.bodies}
    try:
        total = _expanded(graph, bodies, {})
        if total > MAX_NODES:
            raise RefusedError(f"{total} nodes, wanted at most {MAX_NODES}")
        return _Builder(graph, bodies, source or Source(), set()).module()
    except RecursionError:
        raise RefusedError("its bodies nest too deep") from None


class _Builder:
    """State of one graph's rebuilding: what each named value has become so far."""

    def __init__(self, graph: Graph, bodies: Mapping[str, Graph], source: Source, bare: set[str]) -> None:
        self._graph = graph
        self._bodies = bodies
        self._source = source
        self._bare = bare
        """Bodies that return one bare value."""
        self._values: dict[str, Any] = {}
        self._fx = torch.fx.Graph()
        self._root = torch.nn.Module()
        self._fakes = Fakes(graph, source.sizes)
        self._arguments = Arguments(self._values, self._body, source.sizes, source.namespaces)
        self._attributes = 0

    def module(self) -> torch.fx.GraphModule:
        for index, given in enumerate(self._graph.inputs):
            made = self._fx.placeholder(given.name if _NAME.fullmatch(given.name) else f"input_{index}_")
            self._describe(made, self._fakes.of(given.type))
            self._values[given.name] = made
        for node in self._graph.nodes:
            self._at(node)
        outputs = tuple(self._arguments.convert(output.value) for output in self._graph.outputs)
        self._fx.output(outputs[0] if self._graph.name in self._bare and len(outputs) == 1 else outputs)
        module = torch.fx.GraphModule(self._root, self._fx)
        if self._fakes.env is not None:
            module.shape_env = self._fakes.env
        return module

    def _at(self, node: Node) -> None:
        try:
            self._node(node)
        except RefusedError as error:
            raise RefusedError(error.reason, error.node or node) from error

    def _node(self, node: Node) -> None:
        if node.target == "constant":
            tensor = constant(node, self._graph.device, self._source.constants)
            made = self._attribute(tensor)
            self._describe(made, (tensor,))
            self._name(node, 0, made)
            return
        if any(effect.kind == "comm" for effect in node.effects) or any(type(arg) is Group for arg in node.args):
            raise RefusedError("collectives have no run cost yet")
        target = resolve(node.target, self._source.namespaces)
        self._call(node, target)

    def _call(self, node: Node, target: Any) -> None:
        keywords(target, tuple(key for key, _ in node.kwargs))
        # a list argument of a higher-order operator is a pytree, and scan and while_loop want tuples
        sequence = list if isinstance(target, torch._ops.OpOverload) else tuple
        if node.target == "higher_order.while_loop" and node.args and type(node.args[0]) is Body:
            self._bare.add(node.args[0].name)
        args = tuple(self._arguments.convert(arg, sequence) for arg in node.args)
        kwargs = {key: self._arguments.convert(value, sequence) for key, value in node.kwargs}
        made = self._fx.call_function(target, args, kwargs)
        made.meta.update(_tags(node.tags))
        self._results(node, made, many=returns_many(target))

    def _results(self, node: Node, made: torch.fx.Node, *, many: bool) -> None:
        types = [result.type for result in node.results]
        whole = len(types) == 1 and (not many or isinstance(types[0], ListType))
        if whole:
            self._describe(made, self._fakes.of(types[0]))
            self._name(node, 0, made)
            return
        values = [self._fakes.of(type_) for type_ in types]
        if types and all(values):
            made.meta["val"] = tuple(value[0] for value in values)
        for index, result in enumerate(node.results):
            if result.name is not None:
                item = self._fx.call_function(operator.getitem, (made, index))
                self._describe(item, values[index])
                self._name(node, index, item)

    def _name(self, node: Node, index: int, made: torch.fx.Node) -> None:
        name = node.results[index].name
        if name is not None:
            self._values[name] = made

    def _describe(self, made: torch.fx.Node, value: tuple[Any, ...]) -> None:
        if value:
            made.meta["val"] = value[0]

    def _body(self, name: str) -> torch.fx.Node:
        # the parser has refused bodies that use themselves
        body = self._bodies[name]
        return self._attribute(_Builder(body, self._bodies, self._source, self._bare).module())

    def _attribute(self, value: Any) -> torch.fx.Node:
        name = f"attribute_{self._attributes}"
        self._attributes += 1
        if isinstance(value, torch.Tensor):
            self._root.register_buffer(name, value)
        else:
            self._root.add_module(name, value)
        return self._fx.get_attr(name)


def _expanded(graph: Graph, bodies: Mapping[str, Graph], known: dict[str, int]) -> int:
    """Count the nodes with every body inlined: 30 bodies that each use the next twice are a billion."""
    if graph.name not in known:
        args = [arg for node in graph.nodes for arg in (*node.args, *(value for _key, value in node.kwargs))]
        used = [bodies[name] for arg in args for name in body_names(arg)]
        known[graph.name] = len(graph.nodes) + sum(_expanded(body, bodies, known) for body in used)
    return known[graph.name]


def _tags(tags: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"partitioner_tag": "is_backward"} if "backward" in tags else {}
    policies = {policy.name.lower(): policy for policy in CheckpointPolicy}
    for tag in tags:
        if tag in policies:
            found["recompute"] = policies[tag]
        elif tag == "recompute":
            found["recompute"] = 1
    return found

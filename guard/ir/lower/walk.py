"""The walk over one fx graph: placeholders, calls, get_attrs and the output, in program order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from guard.errors import UsageError
from guard.ir.collector import without_collection
from guard.ir.digest import file_name
from guard.ir.graph import Arg, Body, Digest, Graph, Input, Node, Output, Ref
from guard.ir.lower.bodies import Bodies
from guard.ir.lower.calls import Calls, alias_bases
from guard.ir.lower.constants import constant_arg
from guard.ir.lower.constraints import constraints
from guard.ir.lower.context import Context, Placeholder, Returned
from guard.ir.lower.literals import Literals
from guard.ir.lower.subclasses import is_mesh
from guard.ir.lower.symbols import Symbols
from guard.ir.lower.trees import distinct
from guard.ir.lower.values import Types, device_name
from guard.ir.types import DTensorType, SubclassType, TensorType, UnknownType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.ir.types import Type


def lower_graph(module: torch.fx.GraphModule, context: Context, bodies: Bodies | None = None) -> tuple[Graph, Bodies]:
    """Lower one fx graph and, into ``bodies``, the graphs that its higher-order operators call."""
    bodies = bodies if bodies is not None else Bodies()
    with without_collection(ages=True):
        return Walk(module, context, bodies).graph(), bodies


class Walk:
    """State of one walk: what each fx node has become so far."""

    def __init__(self, module: torch.fx.GraphModule, context: Context, bodies: Bodies) -> None:
        self._module = module
        self._context = context
        self._bodies = bodies
        self._refs: dict[torch.fx.Node, Any] = {}
        self._nodes: list[Node] = []
        self._inputs: list[Input] = []
        self._lifted: dict[int, Input] = {}
        self._taken: set[str] = set()
        self._symbols = Symbols(context.shape_env)
        self._types = Types(self._symbols, graph_device(module))
        self._literals = Literals(self._refs, self._symbols)
        self._calls = Calls(self._refs, self._literals, self._types, bodies)

    def graph(self) -> Graph:
        """Walk, and assemble."""
        outputs: tuple[Output, ...] = ()
        call, nodes = self._calls.call, self._nodes
        for node in self._module.graph.nodes:
            if node.op == "call_function":
                lowered = call(node)
                if lowered is not None:
                    nodes.append(lowered)
            elif node.op == "placeholder":
                self._placeholder(node)
            elif node.op == "get_attr":
                self._get_attr(node)
            elif node.op == "output":
                outputs = tuple(self._outputs(node))
            else:
                nodes.append(self._calls.opaque_call(node))
        return Graph(
            self._context.name, (*self._inputs, *self._lifted.values()), tuple(nodes), outputs,
            where=constraints(self._symbols, self._context.shape_env),
            in_tree=self._context.in_tree, out_tree=self._context.out_tree, device=self._types.device,
        )  # fmt: skip

    def _placeholder(self, node: torch.fx.Node) -> None:
        index = len(self._refs)
        known = self._context.placeholders
        what = known[index] if index < len(known) else Placeholder(str(node.target))
        if what.dropped or is_mesh(node.meta.get("val")):
            self._refs[node] = self._literals.arg(node.meta.get("val"))
            return
        name = self._input_name(what.name)
        self._refs[node] = Ref(name)
        found = self._seen(what, self._types.seen_of(node, offset=True))
        self._inputs.append(Input(name, found, what.role, what.labels, what.alias))

    def _input_name(self, wanted: str) -> str:
        """A name that no other input has: two layers that a function closes over both have a ``weight``."""
        name = distinct([wanted], self._taken)[0]
        self._taken.add(name)
        return name

    def _get_attr(self, node: torch.fx.Node) -> None:
        value = attribute(self._module, str(node.target))
        if isinstance(value, torch.fx.GraphModule):
            self._refs[node] = self._body(value)
        elif isinstance(value, torch.Tensor):
            self._tensor(node, value)
        else:
            self._refs[node] = self._literals.arg(value)

    def _body(self, module: torch.fx.GraphModule) -> Body:
        return self._bodies.add(
            lower_graph(module, Context("body", shape_env=self._context.shape_env), self._bodies)[0]
        )

    def _tensor(self, node: torch.fx.Node, value: torch.Tensor) -> None:
        known = self._context.lifted.get(id(value))
        if known is None:
            result = self._calls.name_results(node, (self._types.of(value),))
            arg = constant_arg(value)
            if type(arg) is Digest and file_name(arg.text) is not None:
                self._bodies.constants[arg.text] = value
            self._nodes.append(Node(result, "constant", (arg,)))
            return
        lifted = self._lifted.get(id(value))
        if lifted is None:
            found = self._seen(known, self._types.of(value))
            lifted = Input(self._input_name(known.name), found, known.role, known.labels)
            self._lifted[id(value)] = lifted
        self._refs[node] = Ref(lifted.name)

    def _outputs(self, node: torch.fx.Node) -> Iterator[Output]:
        bases = alias_bases([i.name for i in (*self._inputs, *self._lifted.values())], self._calls.effectful)
        for index, leaf in enumerate(_leaves(node.args[0])):
            known = self._context.returned
            what = known[index] if index < len(known) else Returned()
            if what.dropped or (isinstance(leaf, torch.fx.Node) and is_mesh(leaf.meta.get("val"))):
                continue
            yield self._output(leaf, what, bases)

    def _output(self, leaf: Any, what: Returned, bases: dict[str, str]) -> Output:
        value: Arg = self._literals.arg(leaf)
        role, of = what.role, what.of
        if type(value) is Ref and role == "output" and value.name in bases:
            role, of = "alias", bases[value.name]
        return Output(value, self._output_type(leaf, value, what), role, of)

    def _output_type(self, leaf: Any, value: Arg, what: Returned) -> Type | None:
        if type(value) is not Ref:
            return self._types.of(leaf) if isinstance(leaf, (int, float, complex, str)) else None
        return self._seen(what, self._types.seen_of(leaf))

    def _seen(self, what: Placeholder | Returned, own: Type) -> Type:
        """The type that the user sees of a value: the tracer's word over the node's own."""
        if isinstance(own, UnknownType) and isinstance(what, Placeholder) and what.literal:
            return self._types.of(what.literal[0])
        if what.outer is not None and isinstance(own, (DTensorType, SubclassType)):  # computed with as it is
            return replace(own, full=replace(own.full, requires_grad=what.outer.requires_grad))
        if what.outer is not None:
            # a rebuilt graph has no such value, only the type that the text has of it
            typed = isinstance(what.outer, (DTensorType, SubclassType))
            seen = what.outer if typed else self._types.of(what.outer, requires_grad=True)
            return _with_local(seen, own, what.attribute)
        return replace(own, requires_grad=True) if what.requires_grad and isinstance(own, TensorType) else own


def _with_local(seen: Type, own: Type, attribute: str | None) -> Type:
    """The node's own type is the local one: an uneven shard is what this rank holds."""
    if not isinstance(own, TensorType) or not isinstance(seen, (DTensorType, SubclassType)):
        return seen
    if isinstance(seen, SubclassType) and attribute:
        return replace(seen, attribute=attribute, local=own)
    if own.shape == seen.full.shape != seen.local.shape:  # MakeFx computes with the whole, under a plain tensor's type
        return seen
    return replace(seen, local=own)


def graph_device(module: torch.fx.GraphModule) -> str:
    """The graph's device: that of its first tensor, cpu where there is none."""
    for node in module.graph.nodes:
        device = getattr(node.meta.get("val"), "device", None)
        if isinstance(device, torch.device):
            return device_name(device)
    return "cpu"


def attribute(module: torch.nn.Module, path: str) -> Any:
    """Value of a dotted get_attr target."""
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            raise UsageError(f'graph: wanted an attribute for get_attr "{path}", got a module without "{part}"')
        found = getattr(found, part)
    return found


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    else:
        yield value

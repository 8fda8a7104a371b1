"""A capture before lowering that may be edited: copies of its fx graphs, and what its tracer knows of them."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from guard.ir.graph import Program
from guard.ir.lower.bodies import Bodies
from guard.ir.lower.walk import lower_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from guard.ir.graph import Event
    from guard.ir.lower.context import Context

Node: TypeAlias = torch.fx.Node


@dataclass
class Part:
    """One graph of a capture, with its context."""

    module: torch.fx.GraphModule
    context: Context

    @property
    def nodes(self) -> list[Node]:
        return list(self.module.graph.nodes)

    @property
    def placeholders(self) -> list[Node]:
        return [node for node in self.nodes if node.op == "placeholder"]

    @property
    def output(self) -> Node:
        return self.nodes[-1]

    @property
    def outputs(self) -> list[Any]:
        value = self.output.args[0]
        return list(value) if isinstance(value, (list, tuple)) else [value]

    def calls(self) -> list[Node]:
        return [node for node in self.nodes if node.op == "call_function"]

    def copy(self) -> Part:
        graph = torch.fx.Graph()
        seen: dict[Node, Node] = {}
        for node in self.module.graph.nodes:
            seen[node] = graph.node_copy(node, seen.__getitem__)
        return Part(torch.fx.GraphModule(self.module, graph), self.context)


@dataclass
class Draft:
    """A capture. A mutator changes it in place, and says by its result whether it found a place."""

    parts: list[Part]
    check: str
    tracer: str
    events: list[Event] = field(default_factory=list)
    base: Draft | None = None
    """What it is to be compared with, where a mutator needs more than the check has: two draws, a constant."""

    def copy(self) -> Draft:
        return Draft([part.copy() for part in self.parts], self.check, self.tracer, list(self.events), self.base)

    def compare_with_this(self) -> None:
        """Compare what follows with the draft as it is now."""
        self.base = self.copy()

    def lowered(self) -> Program:
        bodies = Bodies()
        for part in self.parts:
            part.module.graph.lint()
            part.module.recompile()
        graphs = tuple(lower_graph(part.module, part.context, bodies)[0] for part in self.parts)
        return Program(self.check, self.tracer, graphs, bodies.all(), tuple(self.events))

    def site(self, random: Random, wanted: Callable[[Part, Node], bool]) -> tuple[Part, Node] | None:
        """Draw a node for which ``wanted`` is true, of any graph."""
        found = [(part, node) for part in self.parts for node in part.nodes if wanted(part, node)]
        return random.choice(found) if found else None


def bypass(found: tuple[Part, Node] | None) -> bool:
    """Take a node out, its first argument in its place; tell whether there was one."""
    if found is None:
        return False
    part, node = found
    node.replace_all_uses_with(node.args[0])
    part.module.graph.erase_node(node)
    return True


def is_tensor(node: Any) -> bool:
    return isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), FakeTensor)


def alike(a: Node, b: Node) -> bool:
    """Tell whether one may stand for the other: same dtype, shape, stride and device."""
    return described(a.meta["val"]) == described(b.meta["val"])


def described(value: Any) -> tuple[str, ...]:
    return str(value.dtype), str(list(value.shape)), str(value.stride()), str(value.device)


def fresh(like: Any, **changed: Any) -> Any:
    """Make a fake tensor in the same mode, with some of shape, stride, dtype and device changed."""
    shape = changed.pop("shape", tuple(like.shape))
    stride = changed.pop("stride", tuple(like.stride()) if len(shape) == like.dim() else _contiguous(shape))
    with unguarded(like), like.fake_mode:
        return torch.empty_strided(
            shape, stride, dtype=changed.get("dtype", like.dtype), device=changed.get("device", like.device)
        )


def _contiguous(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(math.prod(shape[place + 1 :]) for place in range(len(shape)))


@contextlib.contextmanager
def unguarded(value: Any) -> Iterator[None]:
    """Keep the ShapeEnv as the trace left it: what is computed here says nothing about the program."""
    env = value.fake_mode.shape_env
    with contextlib.nullcontext() if env is None else env.suppress_guards():
        yield


def set_value(node: Node, value: Any) -> None:
    """Say something else of a node's value; other nodes keep theirs, for dicts of metadata are shared."""
    node.meta = {**node.meta, "val": value}
    if isinstance(value, torch.Tensor) and ("tensor_meta" in node.meta or node.op != "placeholder"):
        node.meta["tensor_meta"] = _extract_tensor_metadata(value)
    else:
        node.meta.pop("tensor_meta", None)


def propagate(part: Part, start: Node) -> None:
    """Compute anew what follows from a changed value; a value that torch refuses to compute stays as it was."""
    changed = {start}
    for node in part.nodes:
        if node.op == "call_function" and node is not start and changed & set(node.all_input_nodes):
            value = None
            with contextlib.suppress(Exception):  # torch raises what it likes on operands that do not fit
                value = _computed(node)
            if _differs(node.meta.get("val"), value):
                set_value(node, value)
                changed.add(node)


def _computed(node: Node) -> Any:
    modes = [n.meta["val"].fake_mode for n in node.all_input_nodes if is_tensor(n)]
    mode = modes[0] if all(m is modes[0] for m in modes) else FakeTensorMode(allow_non_fake_inputs=True)

    def value(operand: Node) -> Any:
        found = operand.meta["val"]
        if isinstance(found, FakeTensor) and found.fake_mode is not mode:
            with mode:
                return torch.empty_strided(found.shape, found.stride(), dtype=found.dtype, device=found.device)
        return found

    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), value)
    env = mode.shape_env
    with contextlib.nullcontext() if env is None else env.suppress_guards(), mode, torch.no_grad():
        return node.target(*args, **kwargs)


def _differs(before: Any, after: Any) -> bool:
    if not isinstance(before, FakeTensor) or not isinstance(after, torch.Tensor):
        return False
    return described(before) != described(after)


def insert(part: Part, behind: Node, target: Any, args: tuple[Any, ...], value: Any) -> Node:
    """Add a call behind a node, and behind all placeholders."""
    if behind.op == "placeholder":
        behind = part.placeholders[-1]
    with part.module.graph.inserting_after(behind):
        node: Node = part.module.graph.call_function(target, args)
    if value is not None:
        set_value(node, value)
    return node


def tag_like(node: Node, other: Node) -> None:
    """Give a new node the tags of one that it stands beside."""
    for key in ("partitioner_tag", "recompute"):
        if key in other.meta:
            node.meta[key] = other.meta[key]


def redirect(old: Node, new: Node) -> None:
    """Have every other user of a value take another one, but for those that it is computed from: a cycle."""
    old.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new and not depends(new, user))


def depends(node: Node, on: Node) -> bool:
    """Tell whether one is computed from the other, or is it."""
    stack, seen = [node], set()
    while stack:
        one = stack.pop()
        if one is on:
            return True
        if one not in seen:
            seen.add(one)
            stack += one.all_input_nodes
    return False


def has_schema(node: Node) -> bool:
    return node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)


def is_pure(node: Node) -> bool:
    """Tell by the schema alone whether a call only computes a new value: no write, no view, no draw, no collective."""
    if not has_schema(node):
        return False
    target: Any = node.target
    schema = target._schema
    silent = all(argument.alias_info is None for argument in (*schema.arguments, *schema.returns))
    return (
        silent
        and target.namespace == "aten"
        and torch.Tag.nondeterministic_seeded not in target.tags
        and not any(argument.name == "running_mean" for argument in schema.arguments)
    )


def is_write(node: Node) -> bool:
    target: Any = node.target
    return has_schema(node) and target._schema.is_mutable


def is_collective(node: Node) -> bool:
    return str(node.target).startswith("_c10d_functional.") and not str(node.target).startswith(
        "_c10d_functional.wait_tensor"
    )


def contents(part: Part) -> dict[Node, str]:
    """Give each node a text of everything that it is computed from: equal texts are one value, written twice."""
    texts: dict[Node, str] = {}
    numbers: dict[str, str] = {}
    for place, node in enumerate(part.nodes):
        args = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: _Name(texts[n]))
        own = f"{node.target}{args}" if is_pure(node) else f"{place}"
        texts[node] = numbers.setdefault(own, f"v{len(numbers)}")
    return texts


class _Name(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

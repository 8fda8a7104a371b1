"""Calls: one fx call_function -> one node, its getitems folded into its results, its effects from the schema."""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.graph import Arg, Body, Effect, Node, Ref, Result
from guard.ir.lower.groups import group_arg
from guard.ir.lower.literals import ATOMS, names_in
from guard.ir.lower.operators import Operator, describe
from guard.ir.lower.sources import SOURCE, source_of
from guard.ir.lower.subclasses import is_mesh
from guard.ir.lower.values import UNKNOWN
from guard.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.ir.lower.bodies import Bodies
    from guard.ir.lower.literals import Literals
    from guard.ir.lower.silent import Argument
    from guard.ir.lower.values import Types
    from guard.ir.types import Type

FxNode = torch.fx.Node
# NamedTuple's own constructor is a Python function: twice the time, for the same tuple
_new: Any = tuple.__new__
_BARRIER = (Effect("barrier"),)
_MODE = (Effect("mode"),)
# torch/fx/passes/runtime_assert.py goes on: "for expression u0 >= 0 on node 'ge_1'"
_OWN_MESSAGE = "Runtime assertion failed"


_OPERATORS: dict[int, Operator] = {}
_OVERLOADS: list[Any] = []


def _described(target: Any) -> Operator:
    """Describe a target; an overload only once, since torch keeps it for good and its id stays its own."""
    op = describe(target)
    if isinstance(target, torch._ops.OpOverload):
        _OVERLOADS.append(target)
        _OPERATORS[id(target)] = op
    return op


class Calls:
    """Lowers the calls of one graph."""

    def __init__(self, refs: dict[torch.fx.Node, Any], literals: Literals, types: Types, bodies: Bodies) -> None:
        self._refs = refs
        self._literals = literals
        self._types = types
        self._bodies = bodies
        self._count = 0
        self.effectful: list[tuple[tuple[Effect, ...], tuple[Result, ...]]] = []
        """Effects and results of the nodes that have effects, in order."""

    def call(self, node: torch.fx.Node) -> Node | None:
        """Lower one call_function; None for a getitem that was folded into its operand."""
        refs = self._refs
        target: Any = node.target
        if target is getitem and node in refs:
            return None
        # by identity, since OpOverload hashes in Python
        op = _OPERATORS.get(id(target)) or _described(target)
        # the two commonest kinds of argument in line: this runs once an argument of graphs of 100k nodes
        convert = self._literals.arg
        args = tuple([refs[a] if type(a) is FxNode else a if type(a) in ATOMS else convert(a) for a in node.args])
        given = node.kwargs
        kwargs = tuple([(key, convert(value)) for key, value in given.items()]) if given else ()
        if op.counted:
            if is_mesh(node.meta.get("val")):  # a method of an opaque mesh: meshes are never values here
                refs[node] = self._literals.arg(node.meta["val"])
                return None
            args, kwargs = _without_counters(op, args, kwargs)
        meta = node.meta
        results = self._one(node, op, meta) if op.single else self._results(node, op, meta)
        if op.plain:
            effects: tuple[Effect, ...] = ()
        elif op.view and type(args[0]) is Ref:
            effects = (_new(Effect, ("alias", (args[0][0],))),)
        else:
            effects = self._effects(op, args, kwargs, results)
        if effects:
            self.effectful.append((effects, results))
        tags = _tags(meta) if "partitioner_tag" in meta or "recompute" in meta else ()
        source = meta.get(SOURCE) or (source_of(meta) if "stack_trace" in meta else None)
        found: Node = _new(Node, (results, op.name, args, kwargs, effects, tags, source))
        return found

    def opaque_call(self, node: torch.fx.Node) -> Node:
        """Lower a call_module or call_method: guard cannot see inside, so nothing moves over it."""
        args = tuple(self._literals.arg(arg) for arg in node.args)
        kwargs = tuple((key, self._literals.arg(value)) for key, value in node.kwargs.items())
        types = (self._types.of_node(node),)
        return Node(
            self.name_results(node, types), f"{node.op}.{node.target}", args, kwargs, _BARRIER, (), source_of(node.meta)
        )

    def name_results(self, node: torch.fx.Node, types: tuple[Type, ...]) -> tuple[Result, ...]:
        """Name the one result of a node; a result that nobody reads has no name."""
        if not node.users:
            return (Result(None, types[0]),)
        name = self._next()
        self._refs[node] = Ref(name)
        return (Result(name, types[0]),)

    def _next(self) -> str:
        name = str(self._count)
        self._count += 1
        return name

    def _one(self, node: torch.fx.Node, op: Operator, meta: dict[str, Any]) -> tuple[Result, ...]:
        """As name_results, for the common case and with the look-up of its type in line."""
        types = self._types
        try:
            # (shape, dtype, requires_grad, stride), the head of TensorMetadata: not hashable where a size is symbolic
            found: Type | None = None if op.looks or types.mixed else types.here.get(meta["tensor_meta"][:4])
        except (KeyError, TypeError):
            found = None
        if found is None:
            found = types.of_meta(meta, offset=op.views) if op.looks or types.mixed else types.of_shape(meta)
        if not node.users:
            return (_new(Result, (None, found)),)
        name = str(self._count)
        self._count += 1
        self._refs[node] = _new(Ref, (name,))
        return (_new(Result, (name, found)),)

    def _results(self, node: torch.fx.Node, op: Operator, meta: dict[str, Any]) -> tuple[Result, ...]:
        value = meta.get("val")
        if type(value) in {list, tuple} or (op.returns is not None and op.returns > 1):
            items = _getitems(node)
            if items is not None:
                return self._unpacked(op, items, value)
        if op.returns == 0 or (op.returns is None and value is None and not node.users):
            return ()
        return self.name_results(node, (self._types.of_meta(meta, offset=op.views),))

    def _unpacked(self, op: Operator, items: dict[int, list[torch.fx.Node]], value: Any) -> tuple[Result, ...]:
        count = len(value) if type(value) in {list, tuple} else max([*items, (op.returns or 1) - 1]) + 1
        offset = op.views
        results = []
        for index in range(count):
            readers = items.get(index, ())
            name = self._next() if any(reader.users for reader in readers) else None
            for reader in readers:
                self._refs[reader] = Ref(name) if name is not None else None
            known = value[index] if type(value) in {list, tuple} else None
            found = self._types.of_node(readers[0], offset=offset) if readers else self._types.of(known, offset=offset)
            results.append(Result(name, UNKNOWN if value is None and not readers else found))
        return tuple(results)

    def _calls_effectful_body(self, args: tuple[Arg, ...]) -> bool:
        return any(type(a) is Body and self._bodies.effectful(a.name) for a in args)

    def _effects(self, op: Operator, args: Any, kwargs: Any, results: tuple[Result, ...]) -> tuple[Effect, ...]:
        if op.barrier or (op.bodies and self._calls_effectful_body(args)):
            return _BARRIER
        if op.mode:
            return _MODE
        named = dict(kwargs)
        still = op.training is not None and _value(op.training, args, named) is False
        found = [Effect("write", names) for names in [_names(op.writes, args, named)] if names and not still]
        found += [Effect("alias", names) for names in [_names(op.aliases, args, named)] if names]
        if op.random:
            found.append(Effect("rng", (self._device(results),)))
        if op.comm:
            found.append(Effect("comm", _ranks(op, args, named)))
        return tuple(found)

    def _device(self, results: tuple[Result, ...]) -> str:
        for result in results:
            if isinstance(result.type, TensorType) and result.type.device is not None:
                return result.type.device
        return self._types.device


def alias_bases(
    inputs: Iterable[str], effectful: Iterable[tuple[tuple[Effect, ...], tuple[Result, ...]]]
) -> dict[str, str]:
    """Value -> the input whose storage it may share, by the alias effects of the nodes between."""
    bases = {name: name for name in inputs}
    for effects, results in effectful:
        for effect in effects:
            if effect.kind == "alias":
                base = next((bases[str(name)] for name in effect.on if name in bases), None)
                if base is not None:
                    bases.update((r.name, base) for r in results if r.name is not None)
    return bases


def _getitems(node: torch.fx.Node) -> dict[int, list[torch.fx.Node]] | None:
    """Readers by index where every reader is a getitem of a constant index, else None."""
    items: dict[int, list[Any]] = {}
    for user in node.users:
        if user.target is not getitem or user.args[0] is not node or type(user.args[1]) is not int or user.args[1] < 0:
            return None
        items.setdefault(user.args[1], []).append(user)
    return items


def _value(place: Argument, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Arg:
    return args[place.place] if place.place < len(args) else kwargs.get(place.name)


def _names(places: tuple[Argument, ...], args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place in places:
        found.update(dict.fromkeys(names_in(_value(place, args, kwargs))))
    return tuple(found)


def _ranks(op: Operator, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> tuple[Any, ...]:
    for place in op.groups:
        value = _value(place, args, kwargs)
        if hasattr(value, "ranks"):
            return tuple(value.ranks)  # type: ignore[union-attr]
    return ()


def _without_counters(op: Operator, args: tuple[Arg, ...], kwargs: tuple[tuple[str, Arg], ...]) -> tuple[Any, Any]:
    if op.barrier:  # another method of a mesh
        return args, kwargs
    if op.bodies:  # invoke_subgraph(body, identifier, ...): the body itself says which one it is
        return (args[0], None, *args[2:]), kwargs
    if not op.groups:  # the assertion itself says of what
        return tuple(_OWN_MESSAGE if type(a) is str and a.startswith(_OWN_MESSAGE) else a for a in args), kwargs
    indices, names = {place.place for place in op.groups}, {place.name for place in op.groups}
    new_args = tuple(group_arg(a) if i in indices and type(a) is str else a for i, a in enumerate(args))
    new_kwargs = tuple((k, group_arg(v) if k in names and type(v) is str else v) for k, v in kwargs)
    return new_args, new_kwargs


def _tags(meta: dict[str, Any]) -> tuple[str, ...]:
    if meta.get("partitioner_tag") == "is_backward":
        return ("backward",) if "recompute" not in meta else ("backward", _recompute(meta))
    return (_recompute(meta),) if "recompute" in meta else ()


def _recompute(meta: dict[str, Any]) -> str:
    policy = getattr(meta["recompute"], "name", str(meta["recompute"]))
    return "recompute" if policy == "1" else policy.lower()

"""The cost of one node: what it reads and writes, sends, copies and casts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from guard.cost.operators import rule
from guard.cost.sizes import Sizes, local
from guard.ir.graph import Ref
from guard.ir.types import TensorType, Type
from guard.ir.uses import refs

if TYPE_CHECKING:
    from guard.cost.amount import Amount
    from guard.cost.operators import Rule
    from guard.ir.graph import Arg, Node


class Collective(NamedTuple):
    """What one collective sends."""

    name: str
    """Without namespace and overload."""
    ranks: int
    """Size of its group."""
    bytes: Amount
    """The larger side: what a gather returns, what others are given."""


class Move(NamedTuple):
    """A copy to another device, or a cast to another dtype."""

    kind: str
    """``f32 -> f64``, ``cpu -> cuda:0``."""
    bytes: Amount
    """Written."""


class NodeCost(NamedTuple):
    """What one node does."""

    flops: Amount | None = 0
    """None where it has some and there is no formula."""
    read: Amount = 0
    """Bytes; an operand counts once."""
    written: Amount = 0
    """Bytes."""
    collective: Collective | None = None
    copy: Move | None = None
    cast: Move | None = None
    untyped: bool = False
    """Some value's size is not known: it counts as nothing."""
    fresh: Amount = 0
    """Bytes of results that have storage of their own."""

    @property
    def free(self) -> bool:
        """It costs nothing."""
        return self.flops == 0 and self.read == 0 and self.written == 0 and self.collective is None


FREE = NodeCost()
# (node, types of values) -> FLOPs; None where there is no formula for this call
Formulas: TypeAlias = Callable[["Node", Mapping[str, Type]], "Amount | None"]


class Costs:
    """Costs of the nodes of one graph, in program order."""

    def __init__(self, types: dict[str, Type], formulas: Formulas | None, device: str) -> None:
        """Begin.

        Args:
            types: Of the values so far; those of nodes enter as they are asked for.
            formulas: None where there are none: then FLOPs are not counted.
            device: The graph's.
        """
        self._types = types
        self._formulas = formulas
        self._device = device
        self._sizes = Sizes()

    def of(self, node: Node) -> NodeCost:
        """Return the cost of the next node, without that of its bodies."""
        results, target, args, kwargs, effects, _tags, _source = node
        for name, type_ in results:
            if name is not None:
                self._types[name] = type_
        known = rule(target)
        if known.metadata:
            return FREE
        if known.bodies:  # what they read and write is counted in them
            made = self._sum([type_ for _name, type_ in results])
            return NodeCost(fresh=made or 0, untyped=made is None)
        if effects:
            return self._with_effects(node, known)
        if known.same_storage:
            return FREE
        return self._plain(node, known, used(args, kwargs))

    def _plain(self, node: Node, known: Rule, operands: dict[str, None]) -> NodeCost:
        """Cost a node that computes fresh results from its operands."""
        made = self._sum(_results(node))
        read: Amount | None = self._read(operands, known, made) if known.reads else 0
        return NodeCost(
            self._flops(node, known),
            read or 0,
            (made or 0) if known.writes else 0,
            None,
            *(self._moves(node, list(operands)) if known.copies else (None, None)),
            untyped=read is None or made is None,
            fresh=made or 0,
        )

    def _read(self, operands: dict[str, None], known: Rule, made: Amount | None) -> Amount | None:
        types = [self._types[name] for name in operands if name in self._types]
        if known.name == "copy":  # copy(to, from): of ``to`` only the type matters
            types = types[1:]
        if known.gather and types:
            rest = self._sum(types[1:])
            return None if made is None or rest is None else made + rest
        return self._sum(types)

    def _with_effects(self, node: Node, known: Rule) -> NodeCost:
        written = [str(name) for kind, on in node.effects if kind == "write" for name in on]
        operands = used(node.args, node.kwargs)
        if not written:
            aliases = any(kind == "alias" for kind, _on in node.effects)
            if known.same_storage or (aliases and not self._changes(node, known, operands)):
                return FREE
            return self._plain(node, known, operands)._replace(collective=self._collective(node, operands))
        return self._in_place(node, known, operands, written)

    def _in_place(self, node: Node, known: Rule, operands: dict[str, None], written: list[str]) -> NodeCost:
        """Cost a node that writes operands; results that are no alias of those are written too."""
        names = dict.fromkeys(written)
        others = [name for name in operands if name not in names]
        made = self._made(node)
        target = self._sum(self._types_of(names))
        if (known.scatter or known.scatter_add) and others:
            target = self._sum(self._types_of(others[-1:]))
        read = self._sum(self._types_of(others)) if known.reads else 0
        kept = target if known.reads_target else 0
        sums = [read, kept, target, made]
        copy, cast = self._moves(node, [*others[:1], *names]) if known.copies else (None, None)
        return NodeCost(
            self._flops(node, known),
            (read or 0) + (kept or 0),
            (target or 0) + (made or 0),
            self._collective(node, operands),
            copy,
            cast,
            untyped=any(one is None for one in sums),
            fresh=made or 0,
        )

    def _made(self, node: Node) -> Amount | None:
        aliased = any(kind == "alias" for kind, _on in node.effects)
        return 0 if aliased else self._sum(_results(node))

    def _changes(self, node: Node, known: Rule, operands: dict[str, None]) -> bool:
        """Tell whether a view by its schema must copy."""
        if not (known.convert or known.reshape) or not node.results:
            return False
        was = [local(type_) for type_ in self._types_of(operands)][:1]
        now = local(node.results[0].type)
        if not was or not isinstance(was[0], TensorType) or not isinstance(now, TensorType):
            return False
        if known.convert:
            return (was[0].dtype, was[0].device) != (now.dtype, now.device)
        return was[0].stride is not None and now.stride is None

    def _collective(self, node: Node, operands: dict[str, None]) -> Collective | None:
        ranks = [len(on) for kind, on in node.effects if kind == "comm"]
        if not ranks:
            return None
        name = rule(node.target).name
        gather = "gather" in name
        types = [result.type for result in node.results] if gather else self._types_of(operands)
        return Collective(name, ranks[0], self._sum(types) or 0)

    def _moves(self, node: Node, operands: list[str]) -> tuple[Move | None, Move | None]:
        """Return the copy to another device and the cast to another dtype, from the first operand to the result."""
        types = [local(type_) for type_ in self._types_of(operands)]
        tensors = [type_ for type_ in types if isinstance(type_, TensorType)]
        now = local(node.results[0].type) if node.results else None
        if rule(node.target).name == "copy" and len(tensors) > 1:
            tensors = tensors[1:]
        if not tensors or not isinstance(now, TensorType):
            return None, None
        size = self._sizes.of(now) or 0
        devices = [type_.device or self._device for type_ in (tensors[0], now)]
        copy = Move(" -> ".join(devices), size) if devices[0] != devices[1] else None
        cast = Move(f"{tensors[0].dtype} -> {now.dtype}", size) if tensors[0].dtype != now.dtype else None
        return copy, cast

    def _flops(self, node: Node, known: Rule) -> Amount | None:
        if self._formulas is None:
            return 0
        found = self._formulas(node, self._types)
        return 0 if found is None and not known.matmul else found

    def _types_of(self, names: dict[str, None] | list[str]) -> list[Type]:
        return [self._types[name] for name in names if name in self._types]

    def _sum(self, types: list[Type]) -> Amount | None:
        total: Amount = 0
        for type_ in types:
            size = self._sizes.of(type_)
            if size is None:
                return None
            total = total + size
        return total


def _results(node: Node) -> list[Type]:
    """Give the types of what a call computes: backward operators leave out what their ``output_mask`` says."""
    types = [type_ for _name, type_ in node.results]
    if len(types) > 1:
        for arg in node.args:
            if type(arg) is tuple and len(arg) == len(types) and all(type(item) is bool for item in arg):
                return [type_ for type_, wanted in zip(types, arg, strict=True) if wanted]
    return types


def used(args: tuple[Arg, ...], kwargs: tuple[tuple[str, Arg], ...]) -> dict[str, None]:
    """Give the values that a call uses, each once, in order."""
    found: dict[str, None] = {}
    for arg in args:
        if type(arg) is Ref:
            found[arg[0]] = None
        elif type(arg) is tuple or not isinstance(arg, (int, float, str, type(None))):
            found.update(dict.fromkeys(refs(arg)))
    for _key, arg in kwargs:
        found.update(dict.fromkeys(refs(arg)))
    return found

"""Arguments: fx argument trees -> guard.ir.graph's literals. What no rule knows becomes Opaque, by its type's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.ir.graph import Arg, Mapping, Opaque, Ref, Slice, Token
from guard.ir.lower.groups import group_arg
from guard.ir.lower.subclasses import is_mesh, mesh_of
from guard.ir.lower.symbols import UnknownExpressionError
from guard.ir.lower.values import device_name, dtype_name, type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.lower.symbols import Symbols

ATOMS: frozenset[type] = frozenset({int, float, bool, str, complex, type(None)})


class Literals:
    """Converter of one graph's arguments: dispatch on the exact type, since this runs once an argument."""

    def __init__(self, refs: dict[torch.fx.Node, Any], symbols: Symbols) -> None:
        self._refs = refs
        self._symbols = symbols
        self._rules: dict[type, Callable[[Any], Arg]] = {
            torch.fx.Node: self._refs.__getitem__,
            list: self._sequence,
            tuple: self._sequence,
            torch.fx.immutable_collections.immutable_list: self._sequence,
            torch.Size: self._sequence,
            dict: self._mapping,
            torch.fx.immutable_collections.immutable_dict: self._mapping,
            slice: lambda s: Slice(self.arg(s.start), self.arg(s.stop), self.arg(s.step)),
            torch.dtype: lambda d: Token("dtype", dtype_name(d)),
            torch.device: lambda d: Token("device", device_name(d)),
            torch.layout: lambda v: Token("layout", str(v).removeprefix("torch.")),
            torch.memory_format: lambda v: Token("memory_format", str(v).removeprefix("torch.")),
            torch.Generator: lambda g: Token("generator", device_name(g.device)),
            type(...): lambda _: Token("ellipsis", "..."),
            torch.SymInt: self._sym,
            torch.SymFloat: self._sym,
            torch.SymBool: self._sym,
        }
        self._rules.update(dict.fromkeys(ATOMS, lambda value: value))

    def arg(self, value: Any) -> Arg:
        """Convert one argument."""
        rule = self._rules.get(type(value))
        return rule(value) if rule is not None else self._other(value)

    def _sequence(self, values: Any) -> Arg:
        return tuple([self.arg(value) for value in values])

    def _mapping(self, values: Any) -> Arg:
        return Mapping(tuple((str(key), self.arg(value)) for key, value in values.items()))

    def _sym(self, value: Any) -> Arg:
        try:
            return self._symbols.expr(value.node._expr, value.node.shape_env)
        except UnknownExpressionError as error:
            return Opaque(str(error))

    def _other(self, value: Any) -> Arg:
        if isinstance(value, tuple):  # a namedtuple or torch.return_types
            return self._sequence(value)
        if isinstance(value, (int, float, str)):  # an enum or a subclass: by what it equals
            return next(base(value) for base in (int, float, str) if isinstance(value, base))
        if is_mesh(value):
            mesh = mesh_of(getattr(value, "real_obj", value))
            return Opaque(f"DeviceMesh{mesh.shape if mesh.ranks is None else mesh.ranks}")
        if "ProcessGroup" in type_name(value):
            return group_arg(value)
        if isinstance(value, torch._ops.OpOverload):
            return Token("op", str(value))
        return Opaque(type_name(value))


def names_in(value: Arg) -> list[str]:
    """Names of the values that an argument mentions, in order: an effect on a list is on each of its items."""
    if type(value) is Ref:
        return [value.name]
    if type(value) is tuple:
        return [name for item in value for name in names_in(item)]
    return []

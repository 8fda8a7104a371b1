"""FLOPs of calls by torch's own formulas (torch.utils.flop_counter), asked with the sizes that a graph says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils import flop_counter

from guard.cost.amount import Poly, TooLargeError, amount
from guard.cost.sizes import local
from guard.ir.expr import Apply, Symbol
from guard.ir.graph import Ref
from guard.ir.types import ListType, TensorType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.cost.amount import Amount
    from guard.cost.node import Formulas
    from guard.ir.graph import Arg, Node
    from guard.ir.types import Type


class _Device(NamedTuple):
    """Formulas ask a tensor of offsets for its device: on ``meta`` they count the longest sequence."""

    type: str = "meta"


class Shape(tuple[Any, ...]):
    """A shape that formulas take for a tensor too: those registered with ``get_raw=True`` are given tensors."""

    __slots__ = ()
    device = _Device()

    @property
    def shape(self) -> Shape:
        """Return itself."""
        return self

    def size(self, dim: int) -> Any:
        """Return the size of a dimension."""
        return self[dim]


class Registry:
    """torch's formulas by target; those that users registered too."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._table = table
        self._known: dict[object, Amount | None] = {}

    def __call__(self, node: Node, types: Mapping[str, Type]) -> Amount | None:
        """Return a call's FLOPs; None where there is no formula, or none for such a call."""
        namespace, _, rest = node.target.partition(".")
        formula = self._table.get(f"{namespace}.{rest.partition('.')[0]}")
        if formula is None:
            return None
        try:
            args = tuple(_argument(arg, types) for arg in node.args)
            kwargs = {key: _argument(arg, types) for key, arg in node.kwargs}
            results = tuple(_shape(result.type) for result in node.results)
        except TooLargeError:
            return None
        out = results[0] if len(results) == 1 else results
        key = (node.target, repr((args, kwargs, out)))
        if key not in self._known:
            self._known[key] = _ask(formula, args, kwargs, out)
        return self._known[key]


def formulas() -> Formulas | None:
    """Return torch's formulas; None where this torch keeps them elsewhere, or answers what is not so."""
    registry = Registry(_table())
    return registry if registry_works(registry) else None


def registry_works(registry: Registry) -> bool:
    """Tell, by a product of matrices whose FLOPs are known, whether the formulas are what they were."""
    from guard.ir.graph import Node, Result

    square = TensorType("f32", (4, 4))
    node = Node((Result("r", square),), "aten.mm.default", (Ref("a"), Ref("a")))
    return registry(node, {"a": square}) == 2 * 4**3


def _table() -> dict[str, Any]:
    # no public name since 2.1, and the only table of formulas that torch has
    registered = getattr(flop_counter, "flop_registry", {})
    return {_name(target): formula for target, formula in registered.items()}


def _name(target: Any) -> str:
    if isinstance(target, torch._ops.HigherOrderOperator):  # noqa: SLF001 - it has no public name
        return f"higher_order.{target.name()}"
    return str(target)


def _ask(formula: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Amount | None:
    try:
        found = formula(*args, **kwargs, out_val=out)
    except Exception:  # noqa: BLE001 - formulas are anybody's: one that cannot tell is none, and the call is listed
        return None
    return found if isinstance(found, (int, Poly)) else None


def _argument(arg: Arg, types: Mapping[str, Type]) -> Any:
    if isinstance(arg, Ref):
        return _shape(types.get(arg.name))
    if isinstance(arg, (Symbol, Apply)):
        return amount(arg)
    # a list of arguments; the other tuples are guard's own words for what formulas do not read
    return [_argument(item, types) for item in arg] if type(arg) is tuple else arg


def _shape(type_: Type | None) -> Any:
    inner = None if type_ is None else local(type_)
    if isinstance(inner, ListType):
        return [_shape(item) for item in inner.items]
    return Shape(map(amount, inner.shape)) if isinstance(inner, TensorType) else None

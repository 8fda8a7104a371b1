"""Canonical names of symbols: by first use in canonical order, so that torch's own numbering does not count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import print_expr, rename, symbols
from guard.ir.type_text import print_type
from guard.ir.types import DTensorType, ListType, ScalarType, SubclassType, TensorType
from guard.ir.uses import leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.ir.expr import Expr
    from guard.ir.graph import Graph, Node
    from guard.ir.types import Dim, Type


class SymbolOrder(dict[str, str]):
    """Symbol -> canonical name. One not met yet has its letter alone: an order must not depend on it."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}
        self._exprs: dict[int, list[Expr]] = {}
        self._texts: dict[int, str] = {}
        self.meet_types(value.type for value in graph.inputs)
        self._meet(graph.where)

    @property
    def changed(self) -> bool:
        """Some name is another than in the text."""
        return any(old != new for old, new in self.items())

    def __missing__(self, name: str) -> str:
        return f"{name[:1]}?"

    def meet_types(self, types: Iterable[Type]) -> None:
        """Name these types' symbols: first those that stand alone, for the order within an expression is by name."""
        met = [expr for type_ in types for expr in self._exprs_of(type_)]
        if met:
            self._meet(expr for expr in met if type(expr) is Symbol)
            self._meet(met)

    def meet_args(self, node: Node) -> None:
        """Name the symbols of a node's arguments."""
        for arg in (*node.args, *(value for _key, value in node.kwargs)):
            self._meet(leaf for leaf in leaves(arg) if isinstance(leaf, (Symbol, Apply)))

    def type_text(self, type_: Type) -> str:
        """Print a type with canonical names; types are kept alive by their graph, and looked up by identity."""
        text = self._texts.get(id(type_))
        if text is None:
            text = print_type(_rename(type_, self) if self._exprs_of(type_) else type_)
            self._texts[id(type_)] = text
        return text

    def expr_text(self, expr: Expr) -> str:
        """Print an expression with canonical names."""
        return print_expr(rename(expr, self))

    def _meet(self, exprs: Iterable[Expr]) -> None:
        for expr in exprs:
            for name in symbols(expr):
                if name not in self:
                    self._add(name)

    def _add(self, name: str) -> None:
        letter = name[:1]
        count = self._counts[letter] = self._counts.get(letter, -1) + 1
        self[name] = f"{letter}{count}"
        self._texts.clear()

    def _exprs_of(self, type_: Type) -> list[Expr]:
        exprs = self._exprs.get(id(type_))
        if exprs is None:
            exprs = self._exprs[id(type_)] = list(_exprs(type_))
        return exprs


def _exprs(type_: Type) -> Iterator[Expr]:
    """Yield the expressions of a type that are no numbers, in the order of the text."""
    if isinstance(type_, TensorType):
        yield from (dim for dim in (*type_.shape, *(type_.stride or ()), type_.offset) if _symbolic(dim))
    elif isinstance(type_, ScalarType):
        if isinstance(type_.value, (Symbol, Apply)):
            yield type_.value
    elif isinstance(type_, (DTensorType, SubclassType)):
        yield from _exprs(type_.full)
        yield from _exprs(type_.local)
    elif isinstance(type_, ListType):
        for item in type_.items:
            yield from _exprs(item)


def _symbolic(dim: Dim) -> bool:
    return isinstance(dim, (Symbol, Apply))


def _rename(type_: Type, names: SymbolOrder) -> Type:
    if isinstance(type_, (DTensorType, SubclassType)):
        return replace(type_, full=_rename_tensor(type_.full, names), local=_rename_tensor(type_.local, names))
    if isinstance(type_, ListType):
        return ListType(tuple(_rename(item, names) for item in type_.items))
    if isinstance(type_, ScalarType) and isinstance(type_.value, (Symbol, Apply)):
        return replace(type_, value=rename(type_.value, names))
    return _rename_tensor(type_, names) if isinstance(type_, TensorType) else type_


def _rename_tensor(type_: TensorType, names: SymbolOrder) -> TensorType:
    shape = tuple(rename(dim, names) for dim in type_.shape)
    stride = None if type_.stride is None else tuple(rename(dim, names) for dim in type_.stride)
    return replace(type_, shape=shape, stride=stride, offset=rename(type_.offset, names))

"""Types -> the fake values that lowering reads from a node's meta. Sizes may be SymInts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from guard.ir.expr_text import symbols as symbols_in
from guard.ir.rebuild.arguments import device_of, dtype_of
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.types import DTensorType, ListType, ScalarType, SubclassType, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from guard.ir.expr import Expr
    from guard.ir.graph import Graph
    from guard.ir.types import Type

HINT = 48  # of a symbol that nobody gave a size: divisible by what sizes are usually divisible by


class Fakes:
    """Makes the fake values of one graph."""

    def __init__(self, graph: Graph, sizes: Mapping[str, int]) -> None:
        names = list(dict.fromkeys(symbols_of(graph)))
        self.env = ShapeEnv() if names else None
        self._mode = FakeTensorMode(shape_env=self.env)
        self._device = graph.device
        self.symbols = {name: self._symbol(name, sizes) for name in sorted(names, key=_number)}

    def of(self, type_: Type | None) -> tuple[Any, ...]:
        """The value that has this type, as a tuple of one; empty where the type does not say."""
        if isinstance(type_, (DTensorType, SubclassType)):
            type_ = type_.local
        if isinstance(type_, TensorType):
            return (self._tensor(type_),) if type_.layout is None else ()
        if isinstance(type_, ScalarType):
            return self._scalar(type_)
        if isinstance(type_, ListType):
            items = [self.of(item) for item in type_.items]
            return ([item[0] for item in items],) if all(items) else ()
        return ()

    def _tensor(self, type_: TensorType) -> Any:
        shape = [self._size(size) for size in type_.shape]
        stride = contiguous(shape) if type_.stride is None else [self._size(step) for step in type_.stride]
        try:
            with self._mode:
                made = torch.empty_strided(
                    shape, stride, dtype=dtype_of(type_.dtype), device=device_of(type_.device or self._device)
                )
                return made if type_.offset == 0 else made.as_strided(shape, stride, self._size(type_.offset))
        except (RuntimeError, TypeError, AssertionError) as error:
            raise RefusedError(f"no tensor can have this type: {str(error).splitlines()[0]}") from error

    def _size(self, size: Expr) -> Any:
        return value_of(size, self.symbols)

    def _scalar(self, type_: ScalarType) -> tuple[Any, ...]:
        if type_.kind == "None":
            return (None,)
        if type_.value is None:
            return ()
        if type_.kind.startswith("Sym"):
            return (value_of(type_.value, self.symbols),)  # type: ignore[arg-type]  # a Sym's value is an expression
        return (type_.value,)

    def _symbol(self, name: str, sizes: Mapping[str, int]) -> Any:
        env: Any = self.env
        if name.startswith("u"):
            return env.create_unbacked_symint()
        if name.startswith("f"):
            return env.create_unbacked_symfloat()
        source, hint = ConstantSource(name), sizes.get(name, HINT + _number(name)[1])
        symbol = env.create_symbol(hint, source=source, dynamic_dim=DimDynamic.DYNAMIC)
        return env.create_symintnode(symbol, hint=hint, source=source)


def contiguous(shape: Iterable[Any]) -> list[Any]:
    """Row-major strides."""
    strides: list[Any] = []
    step: Any = 1
    for size in reversed(list(shape)):
        strides.append(step)
        step = step * (size if not isinstance(size, int) or size > 0 else 1)
    return strides[::-1]


def symbols_of(graph: Graph) -> Iterator[str]:
    """Names of the symbols in a graph's types, in program order, repeats too."""
    types = [value.type for value in graph.inputs]
    types += [result.type for node in graph.nodes for result in node.results]
    types += [output.type for output in graph.outputs if output.type is not None]
    seen: set[int] = set()
    for type_ in types:
        if id(type_) not in seen:
            seen.add(id(type_))
            yield from _symbols_of_type(type_)


def _symbols_of_type(type_: Type) -> Iterator[str]:
    if isinstance(type_, (DTensorType, SubclassType)):
        yield from _symbols_of_type(type_.local)
    elif isinstance(type_, TensorType):
        for size in (*type_.shape, *(type_.stride or ()), type_.offset):
            yield from symbols_in(size)
    elif isinstance(type_, ScalarType) and type_.kind.startswith("Sym") and type_.value is not None:
        yield from symbols_in(type_.value)  # type: ignore[arg-type]  # a Sym's value is an expression
    elif isinstance(type_, ListType):
        for item in type_.items:
            yield from _symbols_of_type(item)


def _number(name: str) -> tuple[str, int]:
    digits = name[1:]
    return name[:1], int(digits) if digits.isdecimal() and len(digits) < 9 else 0  # noqa: PLR2004 - any real number

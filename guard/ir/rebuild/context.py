"""What lowering needs beside a rebuilt module to give the graph back: names, roles and outer types of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.ir.lower.context import Context, Placeholder, Returned
from guard.ir.types import DTensorType, ScalarType, SubclassType, TensorType

if TYPE_CHECKING:
    from guard.ir.graph import Graph, Input, Output
    from guard.ir.types import Type


def context_of(graph: Graph, shape_env: Any = None) -> Context:
    """The context that the tracer of this graph had."""
    return Context(
        graph.name,
        tuple(_placeholder(given) for given in graph.inputs),
        tuple(_returned(output) for output in graph.outputs),
        in_tree=graph.in_tree,
        out_tree=graph.out_tree,
        shape_env=shape_env,
    )


def _placeholder(given: Input) -> Placeholder:
    known = isinstance(given.type, ScalarType) and not given.type.kind.startswith("Sym")
    value = given.type.value if isinstance(given.type, ScalarType) else None
    return Placeholder(
        given.name,
        given.role,
        given.labels,
        _outer(given.type),
        _requires_grad(given.type),
        given.alias,
        literal=(value,) if known else (),
    )


def _returned(output: Output) -> Returned:
    outer = None if output.type is None else _outer(output.type)
    return Returned(output.role, output.of, outer, output.type is not None and _requires_grad(output.type))


def _outer(type_: Type) -> Type | None:
    return type_ if isinstance(type_, (DTensorType, SubclassType)) else None


def _requires_grad(type_: Type) -> bool:
    return isinstance(type_, TensorType) and type_.requires_grad

"""Arguments of a second size: what a symbolic graph took for a symbol has to be one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from guard.ir.expr import Symbol
from guard.ir.expr_text import symbols as symbols_in
from guard.ir.lower.trees import leaf_names
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.types import ScalarType, TensorType
from guard.replay.refusal import UnreplayedError
from guard.replay.sizes import sizes_among
from guard.tracers.parameters import named_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from guard.ir.graph import Graph, Input
    from guard.ir.types import Type

_SEED = 30_000


def has_symbols(graph: Graph) -> bool:
    """Tell whether any input of a graph has a size that is a symbol."""
    return any(_symbols(given.type) for given in graph.inputs if given.role == "input")


def second_arguments(
    graph: Graph, program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Make arguments in which each symbol has another size: none is 0, 1, the example's or another's.

    Sizes that parameters and buffers have, too, are kept: they are the module's own.

    Raises:
        UnreplayedError: there are no such sizes, or an argument that cannot be made.
    """
    leaves, spec = pytree.tree_flatten((args, kwargs))
    state = named_tensors(program) if isinstance(program, torch.nn.Module) else {}
    names = leaf_names(program, args, kwargs, [placeholder.name for placeholder in state.values()])
    given = {value.name: value for value in graph.inputs}
    example = _example(given, dict(zip(names, leaves, strict=True)))
    fixed = {name for value in graph.inputs if value.role in {"parameter", "buffer"} for name in _symbols(value.type)}
    sizes = _sizes(graph, example, fixed)
    made: dict[int, Any] = {}
    generator = torch.Generator().manual_seed(_SEED)
    for name, leaf in zip(names, leaves, strict=True):
        if id(leaf) not in made:
            made[id(leaf)] = _made(name, leaf, given.get(name), sizes, generator)
    found: tuple[tuple[Any, ...], dict[str, Any]] = pytree.tree_unflatten([made[id(leaf)] for leaf in leaves], spec)
    return found


def _sizes(graph: Graph, example: Mapping[str, int], fixed: set[str]) -> dict[str, int]:
    free = [name for name in example if name not in fixed]
    if not free:
        raise UnreplayedError("every symbol is a size of a parameter, too")
    kept = {name: size for name, size in example.items() if name in fixed}
    try:
        return sizes_among(free, graph.where, kept, avoid=set(example.values()))
    except RefusedError as error:
        raise UnreplayedError(error.reason) from error


def _symbols(type_: Type) -> list[str]:
    exprs: Iterable[Any] = ()
    if isinstance(type_, TensorType):
        exprs = type_.shape
    elif isinstance(type_, ScalarType) and type_.kind == "SymInt":
        exprs = (type_.value,)
    return [name for expr in exprs for name in symbols_in(expr)]


def _example(given: Mapping[str, Input], leaves: Mapping[str, Any]) -> dict[str, int]:
    """The example's size of each symbol that is a size of an argument by itself."""
    found: dict[str, int] = {}
    for name, leaf in leaves.items():
        type_ = given[name].type if name in given else None
        if isinstance(type_, TensorType) and isinstance(leaf, torch.Tensor):
            for expr, size in zip(type_.shape, leaf.shape, strict=True):
                if type(expr) is Symbol:
                    found.setdefault(expr.name, int(size))
        elif isinstance(type_, ScalarType) and type(type_.value) is Symbol and isinstance(leaf, int):
            found.setdefault(type_.value.name, leaf)
    return found


def _made(name: str, leaf: Any, given: Input | None, sizes: Mapping[str, int], generator: torch.Generator) -> Any:
    if given is None or not _symbols(given.type):
        return leaf
    try:
        if isinstance(given.type, ScalarType):
            return value_of(given.type.value, sizes)  # type: ignore[arg-type]  # a SymInt's value is an expression
        if not isinstance(given.type, TensorType) or type(leaf) not in {torch.Tensor, torch.nn.Parameter}:
            raise UnreplayedError(f'argument "{name}" is not made in another size')
        shape = [int(value_of(size, sizes)) for size in given.type.shape]
    except RefusedError as error:
        raise UnreplayedError(error.reason) from error
    return _resized(name, leaf, shape, generator)


def _resized(name: str, leaf: torch.Tensor, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    """A tensor of another shape whose elements are drawn among the example's, laid out in the same order."""
    if leaf.layout is not torch.strided or leaf.numel() == 0:
        raise UnreplayedError(f'argument "{name}" is not made in another size')
    order = sorted(range(leaf.dim()), key=lambda dim: -leaf.stride(dim))
    pool = leaf.detach().reshape(-1)
    count = 1
    for size in shape:
        count *= size
    chosen = pool[torch.randint(0, pool.numel(), (count,), generator=generator).to(leaf.device)]
    laid = chosen.reshape([shape[dim] for dim in order])
    back = [order.index(dim) for dim in range(leaf.dim())]
    return laid.permute(back).requires_grad_(leaf.requires_grad)

"""Fresh inputs of a graph's signature, drawn from one seed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.rebuild.arguments import device_of, dtype_of
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.metadata import contiguous
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.types import DTensorType, ScalarType, SubclassType, TensorType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.ir.graph import Graph, Input
    from guard.ir.types import Type

MAX_BYTES = 8 << 30
"""Of all inputs and results of a graph together: more is not run beside other work."""
_SCALARS = {"int": 2, "float": 1.5, "bool": True, "complex": 1 + 1j, "None": None}


def draw(graph: Graph, sizes: Mapping[str, int], seed: int = 0) -> list[Any]:
    """Draw one value an input, in their order, on the devices that the types say.

    Floats are normal, buffers in [0.5, 1.5) since a variance is positive, integers 0 or 1 since they may be indices.
    Inputs that share storage are one tensor.

    Raises:
        RefusedError: a type that is not drawn, a device that is not here, or too much memory.
    """
    _refuse_large(graph, sizes)
    generator = torch.Generator().manual_seed(seed)
    found: dict[str, Any] = {}
    types = {given.name: given.type for given in graph.inputs}
    for given in graph.inputs:
        if given.alias is None:
            found[given.name] = _draw(given, graph.device, sizes, generator)
        elif given.alias in found and types[given.alias] == given.type:
            found[given.name] = found[given.alias]
        else:
            raise RefusedError(f'input "{given.name}" is another view of the storage of "{given.alias}"')
    return list(found.values())


def bytes_of(type_: Type, sizes: Mapping[str, int]) -> int:
    """Bytes of a value of this type; 0 where it is no tensor or its size is not known."""
    local = type_.local if isinstance(type_, (DTensorType, SubclassType)) else type_
    if not isinstance(local, TensorType):
        return 0
    try:
        elements = math.prod(int(value_of(size, sizes)) for size in local.shape)
        return elements * int(dtype_of(local.dtype).itemsize)
    except RefusedError:  # an unbacked symbol
        return 0


def _refuse_large(graph: Graph, sizes: Mapping[str, int]) -> None:
    total = sum(bytes_of(given.type, sizes) for given in graph.inputs)
    total += sum(bytes_of(result.type, sizes) for node in graph.nodes for result in node.results)
    if total > MAX_BYTES:
        raise RefusedError(f"its values have {total} bytes, wanted at most {MAX_BYTES}")


def _draw(given: Input, device: str, sizes: Mapping[str, int], generator: torch.Generator) -> Any:
    type_ = given.type.local if isinstance(given.type, (DTensorType, SubclassType)) else given.type
    if isinstance(type_, ScalarType):
        return _scalar(given.name, type_, sizes)
    if not isinstance(type_, TensorType) or type_.layout is not None:
        raise RefusedError(f'input "{given.name}" has a type that is not drawn')
    shape = [value_of(size, sizes) for size in type_.shape]
    stride = contiguous(shape) if type_.stride is None else [value_of(step, sizes) for step in type_.stride]
    values = _values(shape, dtype_of(type_.dtype), given.role, generator)
    offset = value_of(type_.offset, sizes)
    room = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)) + 1
    try:
        storage = torch.zeros(max(room, 0), dtype=values.dtype, device=device_of(type_.device or device))
        made = storage.as_strided(shape, stride, offset)
        return made.copy_(values) if all(step or size < 2 for size, step in zip(shape, stride, strict=True)) else made  # noqa: PLR2004 - more than one element
    except (RuntimeError, AssertionError) as error:  # the device is not here; torch without CUDA asserts
        raise RefusedError(f'input "{given.name}": {str(error).splitlines()[0]}') from error


def _values(shape: list[int], dtype: torch.dtype, role: str, generator: torch.Generator) -> torch.Tensor:
    if dtype.is_complex:
        return torch.randn(shape, dtype=torch.complex64, generator=generator).to(dtype)
    if not dtype.is_floating_point:
        return torch.randint(0, 2, shape, generator=generator).to(dtype)
    if role == "buffer":
        return (torch.rand(shape, generator=generator) + 0.5).to(dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def _scalar(name: str, type_: ScalarType, sizes: Mapping[str, int]) -> Any:
    if type_.kind == "SymInt" and type_.value is not None:
        return value_of(type_.value, sizes)  # type: ignore[arg-type]  # a SymInt's value is an expression
    if type_.value is not None:
        return type_.value
    if type_.kind not in _SCALARS:
        raise RefusedError(f'input "{name}" has a type that is not drawn')
    return _SCALARS[type_.kind]

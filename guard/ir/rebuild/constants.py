"""Constants: inline values as tensors; the bytes behind a digest are current's, never a file's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.digest import file_name
from guard.ir.graph import Digest
from guard.ir.lower.constants import INLINE
from guard.ir.rebuild.arguments import device_of, dtype_of
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.ir.graph import Node


def constant(node: Node, device: str, known: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The tensor of a ``constant`` node.

    Args:
        node: one result and one argument: values, or a digest.
        device: the graph's.
        known: current's constants by digest.

    Raises:
        RefusedError: the value is no number, or its bytes are not at hand.
    """
    if len(node.results) != 1 or len(node.args) != 1 or not isinstance(node.results[0].type, TensorType):
        raise RefusedError("a constant has one tensor and one value")
    wanted, value = node.results[0].type, node.args[0]
    tensor = _known(value.text, wanted, device, known) if type(value) is Digest else _inline(value, wanted, device)
    if tuple(tensor.shape) != wanted.shape or tensor.dtype != dtype_of(wanted.dtype):
        raise RefusedError(f"wanted a constant of shape {list(wanted.shape)}, got {list(tensor.shape)}")
    return tensor


def tensor_of(data: bytes) -> torch.Tensor:
    """Bytes as a flat tensor: whoever reads them knows their dtype and shape."""
    # of a writable copy, since frombuffer warns of what it cannot write; it takes no empty one
    return torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def _known(digest: str, wanted: TensorType, device: str, known: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """A copy of current's bytes, read as the text says: two texts may read the same bytes differently."""
    if file_name(digest) is None:
        raise RefusedError(f'constant "{digest}" has no bytes')
    if digest not in known:
        raise RefusedError(f'constant "{digest}" is not among current\'s')
    dtype, plain = dtype_of(wanted.dtype), known[digest].detach().resolve_conj().resolve_neg().cpu().contiguous()
    raw = plain.reshape(-1).view(torch.uint8)
    shape = [value_of(size, {}) for size in wanted.shape]
    if raw.numel() != math.prod(shape) * dtype.itemsize:
        raise RefusedError(f"wanted a constant of shape {list(wanted.shape)}, got {raw.numel()} bytes")
    return _strided(raw.clone().view(dtype).reshape(shape).to(device_of(wanted.device or device)), wanted)


def _inline(value: Any, wanted: TensorType, device: str) -> torch.Tensor:
    leaves = list(_leaves(value))
    others = [leaf for leaf in leaves if type(leaf) not in {int, float, bool, complex}]
    if len(leaves) > INLINE or others:
        got = repr(others[0])[:100] if others else str(len(leaves))
        raise RefusedError(f"wanted numbers of a constant, at most {INLINE} of them, got {got}")
    try:
        made = torch.tensor(value, dtype=dtype_of(wanted.dtype), device=device_of(wanted.device or device))
    except (RuntimeError, TypeError, ValueError) as error:
        raise RefusedError(f"constant: {error}") from error
    made = made.reshape(wanted.shape) if made.numel() == 0 else made
    return made if tuple(made.shape) != wanted.shape else _strided(made, wanted)


def _strided(made: torch.Tensor, wanted: TensorType) -> torch.Tensor:
    """Lay a constant out as its type says."""
    if wanted.stride is None:
        return made
    return torch.empty_strided(wanted.shape, wanted.stride, dtype=made.dtype, device=made.device).copy_(made)


def _leaves(value: Any) -> Any:
    if isinstance(value, tuple) and type(value) is tuple:
        for item in value:
            yield from _leaves(item)
    else:
        yield value

"""Constants: inline values as tensors; the bytes behind a digest are current's, never a file's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.graph import Digest
from guard.ir.lower.constants import INLINE, constant_arg
from guard.ir.rebuild.arguments import device_of, dtype_of
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guard.ir.graph import Node

_DIGEST = re.compile(r"sha256:[0-9a-f]{32}")


def constants_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Tensors that a captured module carries, by their digest: what a baseline's digests may stand for."""
    tensors = [*module.parameters(), *module.buffers(), *vars(module).values()]
    found = {}
    for tensor in tensors:
        digest = constant_arg(tensor) if isinstance(tensor, torch.Tensor) else None
        if isinstance(digest, Digest):
            found[digest.text] = tensor.detach()
    return found


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
    tensor = _known(value.text, known) if type(value) is Digest else _inline(value, wanted, device)
    if tuple(tensor.shape) != wanted.shape or tensor.dtype != dtype_of(wanted.dtype):
        raise RefusedError(f"wanted a constant of shape {list(wanted.shape)}, got {list(tensor.shape)}")
    return tensor


def _known(digest: str, known: Mapping[str, torch.Tensor]) -> torch.Tensor:
    if digest in known:
        return known[digest]
    if _DIGEST.fullmatch(digest):
        raise RefusedError(f'the bytes of constant "{digest}" are not in the file, and no capture is at hand')
    raise RefusedError(f'constant "{digest}" has no bytes')


def _inline(value: Any, wanted: TensorType, device: str) -> torch.Tensor:
    leaves = list(_leaves(value))
    if len(leaves) > INLINE or not all(type(leaf) in {int, float, bool, complex} for leaf in leaves):
        raise RefusedError(f"wanted numbers of a constant, at most {INLINE} of them")
    try:
        made = torch.tensor(value, dtype=dtype_of(wanted.dtype), device=device_of(wanted.device or device))
    except (RuntimeError, TypeError, ValueError) as error:
        raise RefusedError(f"constant: {error}") from error
    made = made.reshape(wanted.shape) if made.numel() == 0 else made
    if wanted.stride is None or tuple(made.shape) != wanted.shape:
        return made
    return torch.empty_strided(wanted.shape, wanted.stride, dtype=made.dtype, device=made.device).copy_(made)


def _leaves(value: Any) -> Any:
    if isinstance(value, tuple) and type(value) is tuple:
        for item in value:
            yield from _leaves(item)
    else:
        yield value

"""The tensors that a run may read, write and be differentiated by, under the names that messages call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from guard.ir.lower.trees import leaf_names
from guard.tracers.parameters import modules_of, named_tensors

if TYPE_CHECKING:
    from collections.abc import Callable


class Named(NamedTuple):
    """One tensor."""

    name: str
    """``input "x"``, ``parameter "weight"``, ``buffer "running_mean"``."""
    tensor: torch.Tensor


def state_of(program: Callable[..., Any]) -> list[Named]:
    """Parameters and buffers that the program reaches, each tensor once, as they are now."""
    found: dict[int, Named] = {}
    for module in modules_of(program):
        tensors = {id(tensor): tensor for tensor in (*module.parameters(), *module.buffers())}
        for key, placeholder in named_tensors(module).items():
            found.setdefault(key, Named(f'{placeholder.role} "{placeholder.name}"', tensors[key]))
    return list(found.values())


def inputs_of(program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Named]:
    """Tensors among the arguments, each once."""
    taken = [p.name for p in named_tensors(program).values()] if isinstance(program, torch.nn.Module) else []
    leaves = pytree.tree_leaves((args, kwargs))
    names = leaf_names(program, args, kwargs, taken)
    found: dict[int, Named] = {}
    for name, leaf in zip(names, leaves, strict=True):
        if isinstance(leaf, torch.Tensor):
            found.setdefault(id(leaf), Named(f'input "{name}"', leaf))
    return list(found.values())

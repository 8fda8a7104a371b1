"""Parameters and buffers by their qualified names: a tied one has several."""

from __future__ import annotations

import functools
import re
import types
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.lower.context import Placeholder
from guard.ir.lower.trees import distinct
from guard.tracers.outputs import outer_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def named_tensors(module: torch.nn.Module) -> dict[int, Placeholder]:
    """``id`` of each parameter and buffer -> the input that it is, under its first name, the others as labels."""
    found: dict[int, tuple[str, torch.Tensor, list[str]]] = {}
    parameters = module.named_parameters(remove_duplicate=False)
    buffers = module.named_buffers(remove_duplicate=False)
    for role, pairs in (("parameter", parameters), ("buffer", buffers)):
        for name, tensor in pairs:
            found.setdefault(id(tensor), (role, tensor, []))[2].append(name)
    return {
        key: Placeholder(
            distinct(names[:1])[0],
            role,
            tuple(names[1:]),
            outer=outer_value(tensor),
            requires_grad=tensor.requires_grad,
        )
        for key, (role, tensor, names) in found.items()
    }


def lifted(module: torch.fx.GraphModule) -> dict[int, Placeholder]:
    """As named_tensors, but for the tensors that a trace made into constants: fx keeps those as buffers."""
    known = named_tensors(module)
    return {key: what for key, what in known.items() if not _CONSTANT.fullmatch(what.name.rpartition(".")[2])}


# torch/fx/_symbolic_trace.py, proxy_tensor.py, torch/_export/passes/lift_constants_pass.py
_CONSTANT = re.compile(r"_?(c_)?(lifted_)?tensor_constant_?\d+|(c_)?lifted_tensor_\d+|_torchbind_obj\d+")


def closed_over(program: Callable[..., Any]) -> dict[int, Placeholder]:
    """Parameters and buffers of the modules that a function reaches by closure, partial or method."""
    found: dict[int, Placeholder] = {}
    for module in modules_of(program):
        for key, placeholder in named_tensors(module).items():
            found.setdefault(key, placeholder)
    return found


def modules_of(program: Any, depth: int = 3) -> Iterator[torch.nn.Module]:
    """The modules that a program is or reaches."""
    if isinstance(program, torch.nn.Module):
        yield program
    elif depth > 0:
        for inner in _reached(program):
            yield from modules_of(inner, depth - 1)


def _reached(program: Any) -> Iterator[Any]:
    if isinstance(program, functools.partial):
        yield from (program.func, *program.args, *program.keywords.values())
    elif isinstance(program, types.MethodType):
        yield from (program.__self__, program.__func__)
    elif isinstance(program, types.FunctionType):
        yield from (cell.cell_contents for cell in program.__closure__ or () if _filled(cell))
        yield from (program.__globals__[n] for n in program.__code__.co_names if n in program.__globals__)


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell says so by raising
    except ValueError:
        return False
    return True

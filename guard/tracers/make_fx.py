"""MakeFx: one graph of a program by torch.fx.experimental.proxy_tensor.make_fx, dead nodes and mutations kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from guard.ir.lower.context import Context, Placeholder
from guard.ir.lower.trees import in_tree_text, leaf_names
from guard.tracers import decompositions
from guard.tracers.outputs import Outputs, outer_value, requires_grad
from guard.tracers.parameters import closed_over, named_tensors
from guard.tracers.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.specs import MakeFx


def trace(spec: MakeFx, program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Trace ``program(*args, **kwargs)`` flat: a placeholder for each leaf, a module's parameters and buffers first."""
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    state = module_state(program)
    parameters = _state_placeholders(program)
    # before it runs: a program may give an argument another storage, or make it require grad
    given = leaf_placeholders(leaves, leaf_names(program, args, kwargs, [p.name for p in parameters]))
    outputs = Outputs()

    def flat(*values: Any) -> tuple[Any, ...]:
        inner_args, inner_kwargs = pytree.tree_unflatten(list(values[len(state) :]), in_spec)
        result = _call(program, dict(zip(state, values, strict=False)), inner_args, inner_kwargs)
        return tuple(outputs.record(result))

    module = make_fx(
        flat,
        decomposition_table=decompositions.table(spec.decompositions),
        tracing_mode=spec.tracing_mode,
        pre_dispatch=spec.pre_dispatch,
    )(*state.values(), *leaves)
    context = Context(
        "main",
        (*parameters, *given),
        outputs.returned(),
        closed_over(program),
        in_tree_text(in_spec),
        outputs.tree(),
        getattr(module, "shape_env", None),
    )
    return Traced(((module, context),))


def module_state(program: Callable[..., Any]) -> dict[str, torch.Tensor]:
    """A module's parameters and buffers, each tensor once under its first name."""
    if not isinstance(program, torch.nn.Module):
        return {}
    return {**dict(program.named_parameters()), **dict(program.named_buffers())}


def _state_placeholders(program: Callable[..., Any]) -> list[Placeholder]:
    if not isinstance(program, torch.nn.Module):
        return []
    known = named_tensors(program)
    return [known[id(tensor)] for tensor in module_state(program).values()]


def _call(program: Callable[..., Any], state: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not state:
        return program(*args, **kwargs)
    return torch.func.functional_call(program, state, args, kwargs, tie_weights=True)


def registered(program: Callable[..., Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Parameters and buffers of each submodule: the dict that it has of them, and what is in it now."""
    if not isinstance(program, torch.nn.Module):
        return []
    return [(own, dict(own)) for part in program.modules() for own in (part._parameters, part._buffers)]


def put_back(held: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Put back what functional_call stood in for.

    It does so itself, but for a submodule that has two names: swapped twice, it keeps the tensor of the trace
    (torch 2.13).
    """
    for own, before in held:
        own.update({name: tensor for name, tensor in before.items() if tensor is not None and name in own})


def leaf_placeholders(leaves: list[Any], names: list[str]) -> list[Placeholder]:
    """Name each flat argument, with its outer type and the earlier argument whose storage it shares."""
    first: dict[int, str] = {}
    found = []
    for name, leaf in zip(names, leaves, strict=True):
        storage = storage_key(leaf)
        alias = first.setdefault(storage, name) if storage is not None else name
        literal = () if isinstance(leaf, torch.Tensor) else (leaf,)
        same = None if alias == name else alias
        found.append(
            Placeholder(name, outer=outer_value(leaf), requires_grad=requires_grad(leaf), alias=same, literal=literal)
        )
    return found


def storage_key(leaf: Any) -> int | None:
    """Identity of a tensor's storage, None for what has no storage of its own."""
    if not isinstance(leaf, torch.Tensor) or outer_value(leaf) is not None:
        return None
    try:
        return int(leaf.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):  # sparse and other layouts without one storage
        return None

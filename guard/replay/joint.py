"""The joint graph of AOTAutograd: inputs and outputs found by its descriptors, forward and backward in one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from guard.replay.noted import Noted, note, placements_of
from guard.replay.observed import Observed
from guard.replay.refusal import UnreplayedError
from guard.replay.tangents import plain, rebuilt
from guard.tracers.descriptor_path import SIZES, kind, unwrapped
from guard.tracers.state.modes import modes_off

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from guard.ir.lower.context import Context
    from guard.replay.forward import Request
    from guard.replay.named import Named


@dataclass(frozen=True)
class Joint:
    """One joint graph and what its tracer knows of it."""

    module: torch.fx.GraphModule
    context: Context
    program: Callable[..., Any]

    def tangents(self) -> dict[int, torch.Tensor]:
        """Draw the tangent of each output that the graph differentiates. Take them with modes off.

        Raises:
            UnreplayedError: it is differentiated by something that is no output of the program.
        """
        parts: dict[int, dict[str | None, Any]] = {}
        like: dict[int, Any] = {}
        for node, placeholder in zip(self._placeholders(), self.context.placeholders, strict=False):
            base, attribute = unwrapped(_described(node))
            if kind(base) != "TangentAOTInput":
                continue
            if kind(base.output) != "PlainAOTOutput":
                raise UnreplayedError("the graph is differentiated by what is no output of the program")
            index, value = base.output.idx, node.meta["val"]
            if isinstance(value, torch.Tensor):
                value = plain([int(size) for size in value.shape], value.dtype, value.device, index)
            parts.setdefault(index, {})[attribute] = value
            if placeholder.outer is not None:
                like[index] = placeholder.outer
        return {index: _whole(found, like.get(index)) for index, found in parts.items()}

    def run(self, request: Request) -> Observed:
        """Run forward and backward. To be called in isolation.

        Args:
            request: its tangents are those of ``tangents``.
        """
        leaves = pytree.tree_leaves((request.args, request.kwargs))
        named = list(request.named())
        flat = [self._value(_described(node), leaves, request.tangents or {}) for node in self._placeholders()]
        interpreter = torch.fx.Interpreter(self.module)
        interpreter.extra_traceback = False  # else fx writes its own lines into what an operator says
        # under the caller's grad mode, on detached inputs: mkldnn's LSTM keeps what its backward reads only there
        result = interpreter.run(*flat, enable_io_processing=False)
        with modes_off():
            return self._observed(
                pytree.tree_leaves(result), leaves, named, self._taken(flat, leaves), request.tangents
            )

    def _taken(self, flat: Sequence[Any], leaves: Sequence[Any]) -> dict[int, torch.Tensor]:
        """What the graph has for each plain input, by the input's id: set_ moves that, and not the input itself."""
        pairs = [(_described(node), value) for node, value in zip(self._placeholders(), flat, strict=True)]
        plain_ones = ("ParamAOTInput", "BufferAOTInput", "PlainAOTInput")
        return {
            id(self._base(descriptor, leaves)): value
            for descriptor, value in pairs
            if kind(descriptor) in plain_ones and isinstance(value, torch.Tensor)
        }

    def _placeholders(self) -> list[torch.fx.Node]:
        return [node for node in self.module.graph.nodes if node.op == "placeholder"]

    def _base(self, base: Any, leaves: Sequence[Any]) -> Any:
        """The value that a descriptor's base stands for: a parameter, a buffer, an argument."""
        if kind(base) in {"ParamAOTInput", "BufferAOTInput"} and isinstance(self.program, torch.nn.Module):
            return _attribute(self.program, base.target)
        if kind(base) == "PlainAOTInput" and base.idx < len(leaves):
            return leaves[base.idx]
        if kind(base) in {"ForwardTokenAOTInput", "BackwardTokenAOTInput"}:
            return torch.empty(0)  # it orders effects, such as the checks of torch.linalg, and has no value
        raise UnreplayedError(f"the graph takes what is no argument of the program: {kind(base)}")

    def _value(self, descriptor: Any, leaves: Sequence[Any], tangents: Mapping[int, torch.Tensor]) -> Any:
        base, path = unwrapped(descriptor)
        found = tangents[base.output.idx] if kind(base) == "TangentAOTInput" else self._base(base, leaves)
        for name in path.split(".") if path else ():
            found = getattr(found, name)
        if kind(descriptor) in SIZES:
            found = (found.shape if "Size" in kind(descriptor) else found.stride())[descriptor.idx]
        return found.detach() if isinstance(found, torch.Tensor) else found

    def _observed(
        self,
        values: Sequence[Any],
        leaves: Sequence[Any],
        named: Sequence[Named],
        taken: Mapping[int, torch.Tensor],
        tangents: Mapping[int, torch.Tensor] | None,
    ) -> Observed:
        outputs: dict[int, dict[str | None, Any]] = {}
        gradients: dict[int, list[dict[str | None, Any]]] = {}
        written: dict[int, dict[str | None, Any]] = {}
        like: dict[int, Any] = {}
        flags: dict[int, bool] = {}
        placed: dict[int, str] = {}
        last = None
        for descriptor, returned, value in zip(self._returned(), self.context.returned, values, strict=False):
            base, attribute = unwrapped(descriptor)
            if kind(base) == "PlainAOTOutput":
                outputs.setdefault(base.idx, {})[attribute] = value
                flags[base.idx] = flags.get(base.idx, False) or returned.requires_grad  # a mesh has none
                if returned.outer is not None:
                    like[base.idx] = returned.outer
            elif kind(base) == "GradAOTOutput":
                parts = gradients.setdefault(id(self._base(base.grad_of, leaves)), [])
                if base != last:
                    parts.append({})
                parts[-1][attribute] = value
                placed.setdefault(id(self._base(base.grad_of, leaves)), placements_of(returned.outer))
            elif kind(base) == "InputMutationAOTOutput":
                written.setdefault(id(self._base(base.mutated_input, leaves)), {})[attribute] = value
            last = base
        after = {
            name: note(taken.get(id(tensor), tensor), requires_grad=tensor.requires_grad) for name, tensor in named
        }
        after.update({name: _noted(written[id(tensor)], tensor) for name, tensor in named if id(tensor) in written})
        found = {
            name: _summed(gradients.get(id(tensor), ()), tensor, placed.get(id(tensor), ""))
            for name, tensor in named
            if tensor.requires_grad
        }
        return Observed(
            outputs=tuple(
                _noted(outputs[index], like.get(index), requires_grad=flags[index]) for index in sorted(outputs)
            ),
            gradients=(found,) if tangents else (),
            backward=after,
        )

    def _returned(self) -> list[Any]:
        node = next(iter(reversed(self.module.graph.nodes)))
        return list(node.meta.get("desc") or ())


def _described(node: torch.fx.Node) -> Any:
    descriptor = node.meta.get("desc")
    if descriptor is None:
        raise UnreplayedError(f'the graph does not say what its input "{node.name}" is')
    return descriptor


def _attribute(module: torch.nn.Module, path: str) -> Any:
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _whole(parts: Mapping[str | None, Any], like: Any) -> Any:
    """One value of its parts: a plain one, or a wrapper subclass around its inner tensors."""
    if None in parts:
        return parts[None]
    if like is None:
        raise UnreplayedError("the graph does not say what its subclasses are")
    names, context = like.__tensor_flatten__()
    missing = [name for name in names if name not in parts and isinstance(getattr(like, name), torch.Tensor)]
    if missing:
        raise UnreplayedError(f"the graph has no part {missing[0]} of a {type(like).__name__}")
    return rebuilt(like, {name: parts.get(name, getattr(like, name)) for name in names}, context)


def _noted(parts: Mapping[str | None, Any], like: Any, *, requires_grad: bool | None = None) -> Noted:
    return note(_whole(parts, like), requires_grad=requires_grad)


def _summed(found: Sequence[Mapping[str | None, Any]], like: Any, placements: str) -> Noted | None:
    """The gradient of one tensor: each of its names has a part of it."""
    there = [part for part in found if any(isinstance(value, torch.Tensor) for value in part.values())]
    if not there:
        return None
    total = {name: _sum([part[name] for part in there]) for name, value in there[0].items() if _is_tensor(value)}
    if None in total:
        return note(total[None])
    inner = {name: note(value) for name, value in total.items() if name is not None}
    return Noted(None, type(like).__name__, shape=tuple(like.shape), placements=placements, inner=inner)


def _sum(values: list[torch.Tensor]) -> torch.Tensor:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)

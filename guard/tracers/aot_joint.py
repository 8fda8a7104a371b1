"""AotJoint: AOTAutograd's joint graph of forward and backward, input mutations kept in the graph."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch._functorch import aot_autograd
from torch.utils import _pytree as pytree

from guard.ir.lower.context import Context, Placeholder
from guard.ir.lower.trees import distinct, in_tree_text, leaf_names
from guard.tracers import aot_metadata, decompositions
from guard.tracers.descriptor_path import kind
from guard.tracers.descriptors import Descriptors
from guard.tracers.elimination import seen_before
from guard.tracers.make_fx import leaf_placeholders
from guard.tracers.outputs import Outputs
from guard.tracers.parameters import named_tensors
from guard.tracers.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from guard.specs import AotJoint


def trace(spec: AotJoint, program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Export the joint graph; without anything that requires grad it is the forward alone, under the same name."""
    module = program if isinstance(program, torch.nn.Module) else FunctionModule(program)
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    state = named_tensors(module).values()
    given = leaf_placeholders(leaves, leaf_names(program, args, kwargs, [p.name for p in state]))
    outputs = Outputs()
    with (
        contextlib.ExitStack() as stack,
        aot_metadata.recorded() as record,
        seen_before() as before,
        _outputs_of(module, outputs),
    ):
        joint = aot_autograd.aot_export_joint_with_descriptors(
            stack,
            module,
            args,
            kwargs,
            decompositions=decompositions.table(spec.decompositions),
            keep_inference_input_mutations=True,
        )
        graph_module = joint.graph_module
    descriptors = Descriptors(_Inputs(state, given), outputs.leaf, record.last())
    context = Context(
        "joint",
        descriptors.placeholders(graph_module),
        descriptors.returned(graph_module),
        in_tree=in_tree_text(in_spec),
        out_tree=outputs.tree(),
        shape_env=shape_env_of(graph_module),
    )
    dropped = tuple((whole, replace(context, placeholders=descriptors.placeholders(whole))) for whole in before[-1:])
    return Traced(((graph_module, context),), dropped=dropped)


class FunctionModule(torch.nn.Module):
    """A function as the module that AOTAutograd's export wants."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = (function,)  # in a tuple: a module that the function closes over is no submodule of this one

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self._function[0](*args, **kwargs)


class _Inputs:
    """Descriptor -> the user's input."""

    def __init__(self, state: Iterable[Placeholder], leaves: list[Placeholder]) -> None:
        self._named = {p.name: p for p in state}
        self._leaves = leaves

    def __call__(self, base: Any) -> Placeholder | None:
        if kind(base) in {"ParamAOTInput", "BufferAOTInput"}:
            role = "parameter" if kind(base) == "ParamAOTInput" else "buffer"
            name = distinct([base.target])[0]  # as it is printed: "0" is "input.0"
            return self._named.get(name) or self._tied(base.target, name) or Placeholder(name, role)
        if kind(base) == "PlainAOTInput" and base.idx < len(self._leaves):
            leaf: Placeholder = self._leaves[base.idx]
            return leaf
        return None

    def _tied(self, label: str, name: str) -> Placeholder | None:
        """A tied parameter's further name: AOTAutograd's export gives each name a placeholder of its own."""
        first = next((p for p in self._named.values() if label in p.labels), None)
        return None if first is None else replace(first, name=name, labels=(), alias=first.name)


@contextlib.contextmanager
def _outputs_of(module: torch.nn.Module, outputs: Outputs) -> Iterator[None]:
    """Record what the module returns, by a forward hook that changes nothing."""
    handle = module.register_forward_hook(lambda _module, _args, out: outputs.record(out) and None)
    try:
        yield
    finally:
        handle.remove()


def shape_env_of(module: torch.fx.GraphModule) -> Any:
    """The ShapeEnv of the graph's fake values, None where all sizes are numbers."""
    for node in module.graph.nodes:
        value = node.meta.get("val")
        mode = getattr(value, "fake_mode", None)
        if mode is not None:
            return mode.shape_env
        if isinstance(value, torch.SymInt):
            return value.node.shape_env
    return None

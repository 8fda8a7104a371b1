"""The two sides of a replay: the program itself, and what was captured of it as something that takes its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from guard.replay import forward
from guard.replay.joint import Joint
from guard.replay.ranks import COLLECTIVES
from guard.replay.refusal import UnreplayedError
from guard.specs import AotJoint, Compile, MakeFx
from guard.tracers import compile as compile_
from guard.tracers.data import has_data
from guard.tracers.make_fx import module_state
from guard.tracers.state.modes import modes_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from guard.replay.forward import Request
    from guard.replay.observed import Observed
    from guard.tracers.capture import Job
    from guard.tracers.traced import Traced


class Side(NamedTuple):
    """How what was captured is run."""

    run: Callable[[Request], Observed]
    order: int
    """Of gradients that are compared without being asked for: 1 where the capture holds a backward."""
    most: int
    """Of gradients that can be."""
    flags: bool = True
    """Whether requires_grad counts without a gradient that is asked for: make_fx traces below autograd, and keeps it
    only with pre_dispatch."""
    tangents: Callable[[], Mapping[int, torch.Tensor]] | None = None
    """What the capture is differentiated by; None: by all outputs that require grad."""
    holds: frozenset[int] | None = None
    """``id`` of the program's own tensors that the graph reads and writes, too; None is all of them."""


def side_of(job: Job, traced: Traced) -> Side:
    """Return the side of a tracer's capture.

    Raises:
        UnreplayedError: it cannot be run.
    """
    _refuse(traced)
    if isinstance(job.spec, Compile):
        call = compile_.compiled(job.spec, job.program, len(job.args), traced.regions)
        return Side(lambda request: forward.run(call, request), order=1, most=1)
    module, context = traced.graphs[0]
    if isinstance(job.spec, AotJoint):
        joint = Joint(module, context, job.program)
        return Side(joint.run, order=1, most=1, tangents=joint.tangents)
    return of_call(_flat(module, job.program), flags=isinstance(job.spec, MakeFx) and job.spec.pre_dispatch)


def of_module(traced: Traced) -> Side:
    """Return the side of a graph that takes the program's own arguments.

    Raises:
        UnreplayedError: it cannot be run.
    """
    _refuse(traced)
    module = traced.graphs[0][0]
    held = (*module.parameters(), *module.buffers(), *vars(module).values())
    side = of_call(module.forward, flags=False)
    return side._replace(holds=frozenset(id(one) for one in held if isinstance(one, torch.Tensor)))


def of_call(call: Callable[..., Any], *, flags: bool) -> Side:
    """Return the side of a graph that torch can differentiate any number of times."""
    return Side(lambda request: forward.run(call, request), order=0, most=2, flags=flags)


def _flat(module: torch.fx.GraphModule, program: Callable[..., Any]) -> Callable[..., Any]:
    """MakeFx's graph: it takes a module's parameters and buffers, then the arguments' leaves, and gives leaves."""

    def call(*args: Any, **kwargs: Any) -> Any:
        # forward, not the module: that prints the frames of what it raises
        return module.forward(*module_state(program).values(), *pytree.tree_leaves((args, kwargs)))

    return call


def _refuse(traced: Traced) -> None:
    for module, _ in traced.graphs:
        if has_collectives(module):
            raise UnreplayedError("collectives need real ranks")
        constants = fake_constants(module)
        if constants:
            raise UnreplayedError(f'constant "{constants[0]}" of the graph has no data')


def has_collectives(module: torch.fx.GraphModule) -> bool:
    """Tell whether a graph, or a body in it, talks to other ranks."""
    return any(
        getattr(node.target, "namespace", None) in COLLECTIVES
        for graph in _graphs(module)
        for node in graph.nodes
        if node.op == "call_function"
    )


def fake_constants(module: torch.fx.GraphModule) -> list[str]:
    """Names of tensors that the graph carries and that have no data."""
    tensors = {**module.__dict__, **dict(module.named_parameters()), **dict(module.named_buffers())}
    with modes_off():
        return [name for name, value in tensors.items() if isinstance(value, torch.Tensor) and not has_data(value)]


def _graphs(module: torch.fx.GraphModule) -> Iterator[torch.fx.Graph]:
    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            yield part.graph

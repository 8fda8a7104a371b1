"""Capture a program again: what further captures show that one graph does not. Slow, each is a whole trace."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from guard.ir.lower.walk import attribute
from guard.ir.types import DTensorType, SubclassType, TensorType
from guard.specs import MakeFx
from guard.tracers.capture import Job, capture
from guard.tracers.make_fx import module_state
from guard.tracers.mesh import clear_sharding_caches

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from guard.ir.graph import Program
    from guard.tracers.capture import Captured


def again(job: Job, check: str, *, fixes: str, cache: Path | None) -> tuple[tuple[str, Program], ...]:
    """Capture the job with all caches as its first capture left them, then with DTensor's sharding caches cleared.

    Returns:
        What was different, and what was captured.
    """
    found = [("traced once more in the same process", capture(job, check=check, fixes=fixes, cache=cache).program)]
    if "torch.distributed.tensor" in sys.modules:
        clear_sharding_caches()
        found.append(("traced with cold caches", capture(job, check=check, fixes=fixes, cache=cache).program))
    return tuple(found)


def retraced(job: Job, captured: Captured, *, fixes: str, cache: Path | None) -> Program | None:
    """Trace the graph that MakeFx captured, on the same inputs; None for other tracers, whose graphs are not theirs.

    The result has plain inputs only: what was a parameter is an argument of the graph.
    """
    if not isinstance(job.spec, MakeFx) or captured.traced is None:
        return None
    ((module, context),) = captured.traced.graphs
    leaves, _ = pytree.tree_flatten((job.args, job.kwargs))
    # in a tuple: guard would take the constants of a module that a function closes over for its state
    hidden, state = (module,), _state(module, context.lifted)

    def graph(*values: Any) -> Any:
        return hidden[0](*values) if state is not None else None

    values = (*module_state(job.program).values(), *leaves)
    again = Job(job.spec, graph, values, {})
    # what it returned required no grad: then it ran without, or took its gradients itself
    with contextlib.nullcontext() if _needs_grad(captured.program) else torch.no_grad():
        return capture(again, check=captured.program.check, fixes=fixes, cache=cache).program


def _state(module: torch.fx.GraphModule, lifted: Mapping[int, Any]) -> torch.nn.Module:
    """Return a module of the tensors that the graph reaches for and that are parameters and buffers of the program."""
    made = torch.nn.Module()
    reached = (attribute(module, str(node.target)) for node in module.graph.nodes if node.op == "get_attr")
    for number, value in enumerate(value for value in reached if id(value) in lifted):
        if isinstance(value, torch.nn.Parameter):
            made.register_parameter(f"_{number}", value)
        else:
            made.register_buffer(f"_{number}", value)
    return made


def _needs_grad(program: Program) -> bool:
    types = [output.type for graph in program.graphs for output in graph.outputs]
    tensors = (found.full if isinstance(found, (DTensorType, SubclassType)) else found for found in types)
    return any(isinstance(found, TensorType) and found.requires_grad for found in tensors)

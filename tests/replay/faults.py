"""Faults to plant in a captured fx graph: each gives a graph that runs, and computes something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.tracers import capture as capture_

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.tracers.traced import Traced


def called(module: torch.fx.GraphModule, target: Any) -> torch.fx.Node:
    """Return the first call of an operator."""
    return next(node for node in module.graph.nodes if node.target is target)


def swapped(module: torch.fx.GraphModule) -> None:
    """Swap the operands of a difference."""
    node = called(module, torch.ops.aten.sub.Tensor)
    node.args = node.args[::-1]


def dropped(module: torch.fx.GraphModule) -> None:
    """Drop a write to an input."""
    node = called(module, torch.ops.aten.copy_.default)
    node.replace_all_uses_with(node.args[0])
    module.graph.erase_node(node)


def baked(module: torch.fx.GraphModule) -> None:
    """Make a constant of the second input: the example's value."""
    node = [node for node in module.graph.nodes if node.op == "placeholder"][1]
    module.register_buffer("_tensor_constant0", torch.ones(2, 3))
    with module.graph.inserting_after(node):
        node.replace_all_uses_with(module.graph.get_attr("_tensor_constant0"))


def frozen(module: torch.fx.GraphModule) -> None:
    """Freeze a size: the example's first one, where the graph asks for it."""
    node = called(module, torch.ops.aten.sym_size.int)
    node.replace_all_uses_with(2)


FAULTS = {"swapped": swapped, "dropped": dropped, "baked": baked, "frozen": frozen}


def planted(traced: Traced, fault: str) -> Traced:
    """Plant a fault in the first graph of a capture."""
    module = traced.graphs[0][0]
    FAULTS[fault](module)
    module.recompile()
    return traced


def plant_in_tracer(spec: type, fault_of: Callable[[Any], str | None]) -> None:
    """Make a tracer of this process wrong for the programs that ``fault_of`` names a fault for."""
    right = capture_._TRACERS[spec]

    def trace(asked: Any, program: Any, args: Any, kwargs: Any) -> Traced:
        fault = fault_of(program)
        traced = right(asked, program, args, kwargs)
        return traced if fault is None else planted(traced, fault)

    capture_._TRACERS[spec] = trace

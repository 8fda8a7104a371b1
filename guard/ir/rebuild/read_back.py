"""Rebuilt modules -> IR again: what was rebuilt is what the text says, or it is not run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard.ir.lower.bodies import Bodies
from guard.ir.lower.walk import lower_graph
from guard.ir.rebuild.context import context_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from guard.ir.graph import Program


def read_back(program: Program, modules: Mapping[str, torch.fx.GraphModule]) -> Program:
    """Lower the rebuilt graphs of a program.

    Constraints on symbols are carried over: they are the tracer's, and no node of a graph says them.

    Args:
        program: what was rebuilt.
        modules: by graph name; the other graphs are left out.
    """
    bodies = Bodies()
    found = []
    for graph in program.graphs:
        if graph.name in modules:
            module = modules[graph.name]
            env = getattr(module, "shape_env", None)
            lowered, _ = lower_graph(module, context_of(graph, env), bodies)
            found.append(replace(lowered, where=graph.where))
    return replace(program, graphs=tuple(found), bodies=bodies.all())

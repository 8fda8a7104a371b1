"""The programs by which a probe knows whether torch keeps and gives proxies while tracker updates are off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.fx.experimental.proxy_tensor as pt

if TYPE_CHECKING:
    from collections.abc import Callable


def fresh(x: Any) -> Any:
    """Use a tensor made while updates are off: torch 2.9 and 2.10 do not know it afterwards."""
    with pt._proxy_tensor_disable_update_tensor_tracker():
        return x + torch.full((4,), 2.0)


def kept(x: Any) -> Any:
    """Write twice while updates are off: both writes must name the input, the second not the first's result."""
    one, two = x + 1, x + 2
    with pt._proxy_tensor_disable_update_tensor_tracker():
        x.copy_(one)
        x.copy_(two)
    return x.sin()


def symptoms() -> tuple[str, ...]:
    """Trace both programs; a line for each whose graph is not the right one."""
    found = (_symptom(fresh, "add", 0, 1), _symptom(kept, "copy_", 0, 1), _symptom(kept, "copy_", 0, 2))
    return tuple(line for line in found if line is not None)


def _symptom(program: Callable[[Any], Any], op: str, first: int, second: int) -> str | None:
    """Say what is wrong unless some ``op`` of the graph takes exactly the values at places ``first`` and ``second``."""
    try:
        graph = pt.make_fx(program, tracing_mode="fake")(torch.ones(4)).graph
    except Exception as error:  # noqa: BLE001 - whatever torch raises is the symptom
        return f"{program.__name__}: {type(error).__name__}"
    places = {node: place for place, node in enumerate(graph.nodes)}
    nodes = [node for node in graph.nodes if str(node.target).startswith(f"aten.{op}.")]
    operands = [tuple(places.get(operand) for operand in node.args[:2]) for node in nodes]
    return None if (first, second) in operands else f"{program.__name__}: no {op} of %{first} and %{second}"

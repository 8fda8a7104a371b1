"""The run that looks: does each operator give what the text says that it gives?"""

from __future__ import annotations

from typing import Any

import torch

from guard.ir.rebuild.refusal import RefusedError


class Looked(torch.fx.Interpreter):
    """Run a rebuilt module node by node, and hold each result against the type of its text.

    Rebuilding takes types from the text, so that only a run can tell: a text that was edited, an operator that gives
    another type by now, a graph over whole DTensors whose inputs were drawn by their local part.

    Strides are left out: a kernel may choose them. So are sizes that symbols give.
    """

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.extra_traceback = False  # else fx writes its own lines into what an operator says

    def run_node(self, n: torch.fx.Node) -> Any:
        """Run one node.

        Raises:
            RefusedError: its result has another dtype or shape.
        """
        value, wanted = super().run_node(n), n.meta.get("val")
        if isinstance(value, torch.Tensor) and isinstance(wanted, torch.Tensor) and not _fits(value, wanted):
            name = n.target if n.op == "call_function" else n.op
            raise RefusedError(f'"{name}" gives {_type(value)}, the text says {_type(wanted)}')
        return value


def _fits(value: torch.Tensor, wanted: torch.Tensor) -> bool:
    known = [(got, size) for got, size in zip(value.shape, wanted.shape, strict=False) if type(size) is int]
    same = value.dtype == wanted.dtype and value.dim() == wanted.dim()
    return same and all(got == size for got, size in known)


def _type(value: torch.Tensor) -> str:
    return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"

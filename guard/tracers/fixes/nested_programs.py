"""The programs by which a probe knows whether torch isolates nested traces: traced with and without the inner one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx, wrapper_and_args_for_make_fx
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable

MODES = ("real", "fake", "symbolic")


class TraceExpand(TorchFunctionMode):
    """Trace each ``expand`` a second time, before it runs: the program of pytorch#93290."""

    def __init__(self, inner: str) -> None:
        super().__init__()
        self.inner = inner

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") == "expand":
            wrapped, all_args = wrapper_and_args_for_make_fx(func, args, kwargs)
            make_fx(wrapped, tracing_mode=self.inner)(all_args)
        return func(*args, **kwargs)


def _expand(a: Any, b: Any) -> Any:
    return b.expand([1, a.shape[0], b.shape[-1]])


def in_function_mode(outer: str, inner: str | None) -> Any:
    """Trace the seed's program; ``inner`` None leaves its inner trace out."""
    if inner is None:
        return make_fx(_expand, tracing_mode=outer)(*_arguments())
    with TraceExpand(inner):
        return make_fx(_expand, tracing_mode=outer)(*_arguments())


def direct(outer: str, inner: str | None) -> Any:
    """Trace a program that calls make_fx itself."""

    def program(a: Any, b: Any) -> Any:
        if inner is not None:
            make_fx(lambda x, y: x * y + 1, tracing_mode=inner)(a, b)
        return (a * b).sin()

    return make_fx(program, tracing_mode=outer)(*_arguments())


def _arguments() -> tuple[Any, Any]:
    return torch.ones(3, 4), torch.ones(4)


def nodes(graph_module: Any) -> list[tuple[Any, ...]]:
    """List a graph's nodes by position: names depend on nodes that were made and dropped."""
    order = {node: place for place, node in enumerate(graph_module.graph.nodes)}
    return [
        (node.op, str(node.target), torch.fx.node.map_arg(node.args, lambda n: f"%{order[n]}"))
        for node in graph_module.graph.nodes
    ]


def symptoms() -> tuple[str, ...]:
    """Trace both programs in all 9 modes; a line for each pair whose outer graph the inner trace disturbed."""
    pairs = [(outer, inner) for outer in MODES for inner in MODES]
    found = [_symptom(program, *pair) for program in (in_function_mode, direct) for pair in pairs]
    return tuple(line for line in found if line is not None)


def _symptom(program: Callable[[str, str | None], Any], outer: str, inner: str) -> str | None:
    wanted = nodes(program(outer, None))
    where = f"{program.__name__}, outer={outer}, inner={inner}"
    try:
        got = nodes(program(outer, inner))
    except Exception as error:  # noqa: BLE001 - whatever torch raises is the symptom
        return f"{where}: {type(error).__name__}"
    # the same number in another order counts: the inner trace made the outer take a proxy early
    return None if got == wanted else f"{where}: {len(got)} nodes for {len(wanted)}, or in another order"

"""What make_fx had traced when it failed. Reads it from the traceback; changes nothing."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from guard.tracers.errors.chain import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULE, _TRACER = "torch.fx.experimental.proxy_tensor", "PythonKeyTracer"
_HOLDERS = {"dispatch_trace", "trace"}  # functions that hold the tracer in a local variable


def partial_graph(exception: BaseException) -> Any | None:
    """Give the ``fx.Graph`` that the outermost failed make_fx left, or None.

    It is the graph that torch logs as its artifact ``make_fx_fail_partial`` (torch/fx/experimental/proxy_tensor.py),
    here without structured logging being on: the tracer is a local variable of a frame of the traceback. The graph has
    no output node. Never raises.
    """
    graphs = (getattr(tracer, "graph", None) for tracer in _tracers(exception))
    return next((graph for graph in graphs if graph is not None), None)


def _tracers(exception: BaseException) -> Iterator[Any]:
    for error, _ in walk(exception):
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_name in _HOLDERS:
                yield from (value for value in frame.f_locals.values() if _is_tracer(value))


def _is_tracer(value: object) -> bool:
    return any(base.__name__ == _TRACER and base.__module__ == _MODULE for base in type(value).__mro__)

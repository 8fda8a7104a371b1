"""Fix: a make_fx that runs inside another trace leaves no node, no proxy and no error in the outer one (pytorch#93290).

torch suspends the outer proxy mode only when the inner one is entered; until then ``_convert_args_to_fake`` has already
shown the inner trace's fake tensors and symbols to the outer. HOP bodies go through ``trace_subgraph`` and keep
seeing their parent.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.fx.experimental.proxy_tensor as pt
import torch.utils._pytree as pytree

from guard.tracers.fixes.engagement import Engagement, Engagements
from guard.tracers.fixes.outer_symbols import baked
from guard.tracers.fixes.patch import Patch, Switch
from guard.tracers.fixes.surroundings import is_nested, suspended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ENGAGEMENTS = Engagements()
_PLANTED = Switch()


def _make_trace(original: Callable[..., Any]) -> Callable[..., Any]:
    def trace(tracer: Any, f: Callable[..., Any], *args: Any) -> Any:
        if not is_nested(args):
            return original(tracer, f, *args)
        if _PLANTED:
            _leak(f, args)
        _ENGAGEMENTS.mark()
        with suspended(args, tracer.tracing_mode) as (alone, outer), baked(outer):
            return original(tracer, f, *alone)

    return trace


_TRACE = Patch(lambda: pt._MakefxTracer, "trace", _make_trace)


def _leak(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Do under the outer mode what the report of 2022 shows: detach twice, run, detach the result."""
    if pt.get_proxy_mode() is None:
        return
    shadow = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().detach(), args)
    pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach(), f(*shadow))


@contextmanager
def apply() -> Iterator[Engagement]:
    """Isolate nested traces; the note turns true when there was one."""
    with _TRACE.installed(), _ENGAGEMENTS.opened() as note:
        yield note


@contextmanager
def plant() -> Iterator[None]:
    """Leak 3 detach nodes and the traced program into the outer graph, in all 9 modes of the seed's program."""
    with _PLANTED.held(), _TRACE.installed():
        yield

"""Fix: while AOTAutograd replays ``copy_``, fresh tensors get proxies and existing ones are kept (pytorch#170467).

``_proxy_tensor_disable_update_tensor_tracker`` is to keep in-place ops from clobbering the proxy that a tensor has.
torch < 2.11 makes no proxy at all under it, and a DTensor's ``copy_``, which makes tensors on its way, dies. The clause
that torch 2.11 put into ``set_proxy_slot`` is added where it is missing.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.fx.experimental.proxy_tensor as pt

from guard.tracers.fixes.engagement import Engagement, Engagements
from guard.tracers.fixes.patch import Patch, Switch
from guard.tracers.fixes.traced_propagation import propagation_traced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ENGAGEMENTS = Engagements()
_CLAUSE_REMOVED = Switch()
_PLANTED = Switch()


def _make_slot(original: Callable[..., Any]) -> Callable[..., Any]:
    def set_proxy_slot(obj: Any, tracer: Any, proxy: Any) -> None:
        if not _is_fresh(obj, tracer):
            original(obj, tracer, proxy)
            return
        if not _CLAUSE_REMOVED:
            original(obj, tracer, proxy)
        if _ENGAGEMENTS and not _PLANTED and obj not in tracer.tensor_tracker:
            tracer.tensor_tracker[obj] = proxy
            _ENGAGEMENTS.mark()

    return set_proxy_slot


_SLOT = Patch(lambda: pt, "set_proxy_slot", _make_slot)


def _is_fresh(obj: Any, tracer: Any) -> bool:
    """Tell whether this is the case of the clause: a tensor without a proxy while updates are off."""
    return (
        isinstance(obj, torch.Tensor)
        and pt._is_proxy_tensor_update_tensor_tracker_disabled()
        and obj not in tracer.tensor_tracker
    )


@contextmanager
def apply() -> Iterator[Engagement]:
    """Give fresh tensors their proxy; the note turns true when torch would have dropped one."""
    with _SLOT.installed(), _ENGAGEMENTS.opened() as note:
        yield note


@contextmanager
def defect() -> Iterator[None]:
    """Put torch 2.10's behaviour back: no clause, traced sharding propagation, cold caches. ``apply`` mends it."""
    with _CLAUSE_REMOVED.held(), _SLOT.installed(), propagation_traced():
        yield


@contextmanager
def plant() -> Iterator[None]:
    """Put torch 2.10's behaviour back, so that no fix mends it: a DTensor input mutation under training dies."""
    with _PLANTED.held(), defect():
        yield

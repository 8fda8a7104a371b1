"""Put DTensor's older behaviour back: sharding propagation inside the trace, with nothing cached. For plants only."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch._functorch._aot_autograd.graph_capture_wrappers as wrappers
import torch.fx.experimental.proxy_tensor as pt

from guard.tracers.fixes.patch import Patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def propagation_traced() -> Iterator[None]:
    """Trace what sharding propagation runs (pytorch#185865), and clear its caches before each replayed mutation."""
    with _PROPAGATION.installed(), _MUTATIONS.installed():
        yield


def _propagator() -> Any:
    from torch.distributed.tensor._sharding_prop import ShardingPropagator

    return ShardingPropagator


def _make_propagate(original: Callable[..., Any]) -> Callable[..., Any]:
    code = original.__code__
    if "disable_proxy_modes_tracing" not in code.co_names + code.co_varnames:
        return original  # torch < 2.13 traces it by itself

    def propagate(*args: Any) -> Any:
        with _disable_once_ignored():
            return original(*args)

    return propagate


@contextmanager
def _disable_once_ignored() -> Iterator[None]:
    """Ignore the next disable_proxy_modes_tracing, and only that one: proxy_call needs its own to work."""
    real = pt.disable_proxy_modes_tracing

    def ignored() -> Any:
        pt.disable_proxy_modes_tracing = real
        return nullcontext()

    pt.disable_proxy_modes_tracing = ignored
    try:
        yield
    finally:
        pt.disable_proxy_modes_tracing = real


def _make_mutations(original: Callable[..., Any]) -> Callable[..., Any]:
    def apply_in_graph_mutations(*args: Any, **kwargs: Any) -> Any:
        _clear_caches()
        return original(*args, **kwargs)

    return apply_in_graph_mutations


_PROPAGATION = Patch(_propagator, "_propagate_tensor_meta_non_cached", _make_propagate)
_MUTATIONS = Patch(lambda: wrappers, "apply_in_graph_mutations", _make_mutations)


def _clear_caches() -> None:
    from torch.distributed.tensor import DTensor, debug

    clear = getattr(debug, "_clear_sharding_prop_cache", None)
    if clear is None:  # torch 2.9: the lru_cache sits inside a thread-local
        clear = DTensor._op_dispatcher.sharding_propagator.propagate_op_sharding.cache.cache_clear
    clear()

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from guard.tracers.errors import partial_graph

X = torch.ones(3)


def targets(graph: Any) -> list[str]:
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


def failing(x: Any) -> Any:
    y = x.sin().cos()
    return y.item()


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_graph_up_to_the_failure_is_given(mode: str) -> None:
    def program(x: Any) -> Any:
        return x.sin().cos().nope()

    with pytest.raises(AttributeError) as caught:
        make_fx(program, tracing_mode=mode)(X)
    graph = partial_graph(caught.value)
    assert graph is not None
    assert targets(graph) == ["aten.sin.default", "aten.cos.default"]
    assert [node.op for node in graph.nodes][:1] == ["placeholder"]
    assert all("val" in node.meta for node in graph.nodes)


def test_outermost_trace_is_given() -> None:
    def inner(x: Any) -> Any:
        return x.exp().nope()

    def program(x: Any) -> Any:
        return make_fx(inner)(x.sin())

    with pytest.raises(AttributeError) as caught:
        make_fx(program)(X)
    graph = partial_graph(caught.value)
    assert graph is not None
    assert targets(graph) == ["aten.sin.default"]


def test_trace_that_a_wrapper_hides_is_found() -> None:
    def program(x: Any) -> Any:
        return x.sin().nope()

    def wrapped() -> None:
        try:
            make_fx(program)(X)
        except AttributeError as error:
            raise RuntimeError from error

    with pytest.raises(RuntimeError) as caught:
        wrapped()
    graph = partial_graph(caught.value)
    assert graph is not None
    assert targets(graph) == ["aten.sin.default"]


def test_no_trace_left_no_graph() -> None:
    with pytest.raises(RuntimeError) as caught:
        failing(X)
    assert partial_graph(caught.value) is None
    assert partial_graph(ValueError("never raised")) is None


def test_namesake_of_torchs_tracer_is_not_asked() -> None:
    class PythonKeyTracer:
        @property
        def graph(self) -> Any:
            raise AssertionError

    def trace(tracer: Any) -> None:
        raise ValueError(tracer)

    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the frame is what counts
        trace(PythonKeyTracer())
    assert partial_graph(caught.value) is None

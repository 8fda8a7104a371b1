"""Each side of a rule alone: torch may move a function, rename a class or reword a message; the others still tell."""

from __future__ import annotations

import pytest

from guard.tracers.errors.chain import Frame, Link
from guard.tracers.errors.kinds import match

TORCH = "/env/lib/python3.13/site-packages/torch/"
SYMBOLIC = "torch.fx.experimental.symbolic_shapes."
DYNAMO = "torch._dynamo.exc."
FAKE = "torch._subclasses.fake_tensor."


def link(
    *types: str, text: str = "reworded", raised_in: str = "new_file.py:new_function", implicit: bool = False
) -> Link:
    path, function = raised_in.split(":")
    return Link((*types, "Exception"), text, (Frame(TORCH + path, 1, function),), (), "", implicit=implicit)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("recursion", "RecursionError"),
        ("unbacked-symbol", SYMBOLIC + "PendingUnbackedSymbolNotFound"),
        ("data-dependent", SYMBOLIC + "GuardOnDataDependentSymNode"),
        ("data-dependent", FAKE + "DynamicOutputShapeException"),
        ("data-dependent", FAKE + "DataDependentOutputException"),
        ("data-dependent", "torch.fx.proxy.TraceError"),
        ("unsupported", DYNAMO + "UncapturedHigherOrderOpError"),
        ("unsupported", FAKE + "UnsupportedOperatorException"),
        ("unsupported", FAKE + "UnsupportedFakeTensorException"),
        ("unsupported", FAKE + "UnsupportedMutationAliasingException"),
        ("unsupported", "torch._higher_order_ops.utils.UnsupportedAliasMutationException"),
        ("unsupported", "NotImplementedError"),
        ("program", DYNAMO + "ObservedException"),
        ("program", DYNAMO + "TorchRuntimeError"),
        ("program", FAKE + "FakeTensorDeviceMismatchError"),
        ("graph-break", DYNAMO + "Unsupported"),
        ("graph-break", DYNAMO + "FailOnRecompileLimitHit"),
        ("graph-break", DYNAMO + "RecompileError"),
        ("other", "UserWarning"),
        ("other", "RuntimeError"),
    ],
)
def test_type_alone_tells(kind: str, name: str) -> None:
    assert match([link(name)])[0] == kind
    assert match([link("subclass.Of", name)])[0] == kind


@pytest.mark.parametrize(
    ("kind", "raised_in"),
    [
        ("untracked-proxy", "fx/experimental/proxy_tensor.py:get_proxy_slot"),
        ("untracked-proxy", "fx/experimental/proxy_tensor.py:_build_proxy_for_sym_expr"),
        ("untracked-proxy", "_subclasses/functional_tensor.py:_sync_view_replay_annotations"),
        ("fake-constant", "_dynamo/utils.py:assert_no_fake_params_or_buffers"),
        ("fake-constant", "_subclasses/fake_tensor.py:validate"),
        ("partitioner", "_functorch/partitioners.py:_extract_graph_with_inputs_outputs"),
        ("sharding-propagation", "distributed/tensor/_sharding_prop.py:propagate_op_sharding_non_cached"),
        ("sharding-propagation", "distributed/tensor/_dispatch.py:_propagate_op_sharding_dispatch_slow_path"),
        ("unsupported", "fx/experimental/proxy_tensor.py:_init_modes_from_inputs"),
        ("program", "_ops.py:__call__"),
        ("program", "nn/functional.py:linear"),
        ("program", "_meta_registrations.py:meta_mm"),
        ("program", "__init__.py:_check_with"),
        ("program", "_refs/__init__.py:stack"),
        ("program", "autograd/graph.py:_engine_run_backward"),
        ("program", "fx/experimental/proxy_tensor.py:__torch_function__"),
        ("program", "_subclasses/fake_tensor.py:merge_devices"),
        ("other", "fx/experimental/proxy_tensor.py:proxy_call"),
        ("other", "_functorch/aot_autograd.py:aot_module_simplified"),
    ],
)
def test_place_alone_tells(kind: str, raised_in: str) -> None:
    assert match([link("RuntimeError", raised_in=raised_in)])[0] == kind


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("untracked-proxy", "s75 is not tracked with proxy for x"),
        ("untracked-proxy", "cannot find FakeTensor(...) in tensor_tracker"),
        ("unbacked-symbol", "Pending unbacked symbols {u0} not in returned outputs"),
        ("data-dependent", "you're trying to get value out of a tracing tensor"),
        ("data-dependent", "Could not guard on data-dependent expression u0 > 3"),
        ("data-dependent", "a Tensor in some data-dependent control flow"),
        ("data-dependent", "We don't support vmap over calling .item() on a Tensor"),
        ("fake-constant", "Unexpected fake buffer _tensor_constant0"),
        ("fake-constant", "Unexpected fake param w"),
        ("fake-constant", "Mixing fake modes NYI"),
        ("fake-constant", "Please convert all Tensors to FakeTensors first"),
        ("partitioner", "Node view_2 was invalid, but is output"),
        ("sharding-propagation", "no\n\nSharding propagation failed for aten.mm.default"),
        ("sharding-propagation", "Operator a.b.c does not have a sharding strategy registered."),
        ("unsupported", "Cannot access data pointer of Tensor"),
        ("unsupported", ".numpy() is not supported for tensor subclasses."),
        ("unsupported", "\"cholesky\" not implemented for 'Half'"),
    ],
)
def test_words_alone_tell(kind: str, text: str) -> None:
    assert match([link("RuntimeError", text=text)])[0] == kind


def test_innermost_cause_tells() -> None:
    outer, inner = link(DYNAMO + "Unsupported", text="outer"), link(DYNAMO + "Unsupported", text="inner")
    assert match([outer, inner]) == ("graph-break", inner)


def test_implied_cause_tells_only_what_is_specific() -> None:
    own = link("KeyError")
    assert match([own, link("RecursionError", implicit=True)])[0] == "recursion"
    assert match([own, link(DYNAMO + "Unsupported", implicit=True)])[0] == "other"

"""Types, literals and effects: one program each, and the line that it must become."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from guard.ir.lower.context import Context
from guard.ir.lower.symbols import Symbols, UnknownExpressionError
from guard.ir.lower.walk import lower_graph
from guard.ir.printer import print_node
from guard.ir.types import TensorType

if TYPE_CHECKING:
    from guard.ir.graph import Graph


def lower(program: Any, *args: Any, mode: str = "real") -> Graph:
    module = make_fx(program, tracing_mode=mode)(*args)
    return lower_graph(module, Context("main", shape_env=getattr(module, "shape_env", None)))[0]


def lines(program: Any, *args: Any, mode: str = "fake") -> list[str]:
    return [print_node(node) for node in lower(program, *args, mode=mode).nodes]


def input_type(tensor: torch.Tensor) -> TensorType:
    found = lower(lambda x: x.sin(), tensor, mode="fake").inputs[0].type
    assert isinstance(found, TensorType)
    return found


@pytest.mark.parametrize(
    ("tensor", "stride"),
    [
        (torch.ones(2, 3), None),
        (torch.ones(2, 3).t(), (1, 3)),
        (torch.ones(2, 1, 4, 4).to(memory_format=torch.channels_last), None),
        (torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last), (48, 1, 12, 3)),
        (torch.ones(2, 4)[:, ::2], (4, 2)),
        (torch.ones(0, 3).t(), None),
        (torch.ones(4).expand(3, 4), (0, 1)),
    ],
)
def test_a_stride_prints_where_it_is_not_contiguous(tensor: torch.Tensor, stride: tuple[int, ...] | None) -> None:
    found = input_type(tensor)

    assert found.stride == stride


def test_dimensions_of_size_one_do_not_count_in_a_stride() -> None:
    assert input_type(torch.empty_strided((1, 4), (99, 1))).stride is None
    assert input_type(torch.empty_strided((2, 4), (99, 1))).stride == (99, 1)


def test_a_view_says_its_offset_and_its_base() -> None:
    assert lines(lambda x: x[2:] + 1, torch.ones(4))[0] == (
        "%0: f32[2]+2 = aten.slice.Tensor(%x_1, 0, 2, 9223372036854775807) {alias %x_1}"
    )


def test_results_of_one_operator_fold_and_unused_ones_have_no_name() -> None:
    found = lines(lambda x: x.split(2)[1] + x.split(2)[1], torch.ones(4))

    assert found[0] == "_: f32[2], %0: f32[2]+2 = aten.split.Tensor(%x_1, 2) {alias %x_1}"
    assert found[2] == "%2: f32[2] = aten.add.Tensor(%0, %1)"


def test_two_getitems_of_one_result_are_one_value() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.ones(4)
    pair = graph.call_function(torch.ops.aten.split.Tensor, (x, 2))
    pair.meta["val"] = [torch.ones(2), torch.ones(2)]
    first = graph.call_function(operator.getitem, (pair, 0))
    again = graph.call_function(operator.getitem, (pair, 0))
    total = graph.call_function(torch.ops.aten.add.Tensor, (first, again))
    graph.output(total)
    found, _ = lower_graph(torch.fx.GraphModule(torch.nn.Module(), graph), Context("main"))

    assert print_node(found.nodes[1]) == "%1: ? = aten.add.Tensor(%0, %0)"


def test_a_list_that_no_getitem_takes_apart_stays_a_list() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.ones(4)
    parts = graph.call_function(torch.ops.aten.split.Tensor, (x, 2))
    parts.meta["val"] = [torch.ones(2), torch.ones(2)]
    graph.output(graph.call_function(torch.ops.aten.cat.default, (parts,)))
    found, _ = lower_graph(torch.fx.GraphModule(torch.nn.Module(), graph), Context("main"))

    assert print_node(found.nodes[0]).startswith("%0: list(f32[2], f32[2]) = aten.split.Tensor(%x, 2)")
    assert print_node(found.nodes[1]) == "%1: ? = aten.cat.default(%0)"


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (lambda x: x.add_(1), "_: f32[4] = aten.add_.Tensor(%x_1, 1) {write %x_1, alias %x_1}"),
        (lambda x: x.add(1.0), "_: f32[4] = aten.add.Tensor(%x_1, 1.0)"),
        (lambda x: x.detach(), "_: f32[4] = aten.detach.default(%x_1) {alias %x_1}"),
        (torch.rand_like, "_: f32[4] = aten.rand_like.default(%x_1, pin_memory=False) {rng cpu}"),
        (lambda x: torch._foreach_mul_([x], 2), "aten._foreach_mul_.Scalar([%x_1], 2) {write %x_1}"),
        (lambda x: x.to(torch.float64), "_: f64[4] = aten._to_copy.default(%x_1, dtype=f64)"),
    ],
)
def test_effects_are_read_from_the_schema(program: Any, line: str) -> None:
    def alone(x: torch.Tensor) -> None:
        program(x)

    assert line in lines(alone, torch.ones(4))


def test_batch_norm_writes_what_its_schema_calls_read_only() -> None:
    def program(x: torch.Tensor, mean: torch.Tensor, var: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.batch_norm(x, mean, var, training=True)

    found = lines(program, torch.ones(2, 3), torch.zeros(3), torch.ones(3))

    assert any("aten.native_batch_norm.default" in line and line.endswith("{write %mean_1, %var_1}") for line in found)


def test_modes_and_functions_without_a_schema_are_barriers() -> None:
    graph = torch.fx.Graph()
    graph.call_function(torch._C._set_grad_enabled, (False,))
    graph.call_function(print, ("x",))
    graph.output(())
    found, _ = lower_graph(torch.fx.GraphModule(torch.nn.Module(), graph), Context("main"))

    assert [print_node(node) for node in found.nodes] == [
        "torch._C._set_grad_enabled(False) {mode}",
        'builtins.print("x") {barrier}',
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.tensor([1, 2]), "constant([1, 2])"),
        (torch.tensor(0.5), "constant(0.5)"),
        (torch.tensor([True, False]), "constant([True, False])"),
        (torch.tensor([float("nan"), float("-inf")]), "constant([nan, -inf])"),
    ],
)
def test_a_small_constant_prints_its_values(value: torch.Tensor, text: str) -> None:
    assert any(text in line for line in lines(lambda x: x + value, torch.ones(()), mode="real"))


def test_a_large_constant_prints_a_digest_of_its_bytes() -> None:
    value = torch.arange(65, dtype=torch.float32)
    other = value.clone()
    other[64] += 1

    def digest(constant: torch.Tensor) -> str:
        return lines(lambda x: x + constant, torch.ones(()), mode="real")[0]

    assert 'constant(digest("sha256:' in digest(value)
    assert digest(value) == digest(value.clone())
    assert digest(value) != digest(other)


def test_a_fake_constant_says_that_it_has_no_bytes() -> None:
    with torch._subclasses.FakeTensorMode():
        value = torch.ones(2)
    owner = torch.nn.Module()
    owner.register_buffer("value", value)
    graph = torch.fx.Graph(owning_module=owner)
    graph.output(graph.get_attr("value"))
    found, _ = lower_graph(torch.fx.GraphModule(owner, graph), Context("main"))

    assert print_node(found.nodes[0]) == '%0: f32[2] = constant(digest("no-bytes"))'


def test_a_constant_that_escaped_from_vmap_has_no_bytes() -> None:
    """make_fx with pre_dispatch lets one out of torch 2.13; whatever reads it raises."""
    graph = make_fx(torch.func.vmap(torch.mul), pre_dispatch=True)(torch.ones(3, 4), torch.ones(3, 4))
    found, _ = lower_graph(graph, Context("main"))

    assert any('constant(digest("no-bytes"))' in print_node(node) for node in found.nodes)


def test_a_ragged_dimension_is_outside_the_closed_set() -> None:
    ragged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)

    with pytest.raises(UnknownExpressionError):
        Symbols().dim(ragged.shape[1])


def test_literals_of_torch_are_tokens() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x, dtype=torch.bfloat16, memory_format=torch.preserve_format).copy_(x)

    assert lines(program, torch.ones(2))[0] == (
        "%0: bf16[2] = aten.empty_like.default"
        "(%x_1, dtype=bf16, pin_memory=False, memory_format=memory_format(preserve_format))"
    )


def test_a_value_on_another_device_says_so_and_its_copies_too() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        there = x.to("meta")
        return (there * 2).sum()

    found = lines(program, torch.ones(2))

    assert found[0].startswith("%0: f32[2]@meta = aten._to_copy.default")
    assert found[1].startswith("%1: f32[2]@meta = aten.mul.Tensor")


def test_operands_keep_their_order_and_literals_their_type() -> None:
    assert lines(lambda x: 1 - x, torch.ones(2))[0] == "%0: f32[2] = aten.rsub.Scalar(%x_1, 1)"
    assert lines(lambda x: x * True, torch.ones(2))[0] == "%0: f32[2] = aten.mul.Tensor(%x_1, True)"

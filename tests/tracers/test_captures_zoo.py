"""What the zoo of programs has shown: names, effects and caches that made a text wrong, unstable or unreadable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from guard.errors import UsageError
from guard.ir.printer import print_program
from guard.ir.types import DTensorType
from guard.specs import AotJoint, Compile, MakeFx
from guard.tracers.capture import lower_module

if TYPE_CHECKING:
    from guard.tracers.mesh import Meshes
    from tests.captures import Captures


def test_two_closed_over_layers_have_a_weight_each(captured: Captures) -> None:
    first, second = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
    found = captured(MakeFx(), lambda weight: second(first(weight)), torch.ones(3))

    assert [value.name for value in found.graphs[0].inputs] == ["weight", "weight.1", "weight.2"]


def test_a_joint_parameter_named_by_a_number_is_no_node(captured: Captures) -> None:
    found = captured(AotJoint(), Numbered(), torch.ones(2))

    assert [value.name for value in found.graphs[0].inputs][:2] == ["input.0", "x"]


class Numbered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_parameter("0", nn.Parameter(torch.ones(2)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + getattr(self, "0")


def test_what_was_traced_before_does_not_matter(captured: Captures) -> None:
    lstm, x = nn.LSTM(3, 4), torch.ones(5, 2, 3)

    assert print_program(captured(AotJoint(), lstm, x)) == print_program(captured(AotJoint(), lstm, x))


def test_a_lazy_module_is_refused(captured: Captures) -> None:
    with pytest.raises(UsageError, match=r'wanted initialized parameters, got lazy "0.weight"'):
        captured(MakeFx(), nn.Sequential(nn.LazyLinear(3)), torch.ones(2, 4))


def test_a_compiled_program_may_take_what_the_user_computed(captured: Captures) -> None:
    leaf = torch.ones(3, requires_grad=True)
    computed = leaf * 2
    found = captured(Compile(), lambda a: a * 2, computed)

    assert [graph.name for graph in found.graphs] == ["forward", "backward"]
    computed.sum().backward()  # the user's own graph is still there
    assert leaf.grad is not None


def test_a_compiled_program_may_write_what_the_user_computed(captured: Captures) -> None:
    found = captured(Compile(), lambda a: a.mul_(3).sin(), torch.ones(3, requires_grad=True) * 2)

    assert found.error is None
    assert [graph.name for graph in found.graphs] == ["forward", "backward"]


def test_a_region_that_recomputes_random_operators_keeps_its_outputs(captured: Captures) -> None:
    def program(x: torch.Tensor) -> Any:
        return checkpoint(lambda t: nn.functional.dropout(t).sin(), x, use_reentrant=False)

    forward = captured(Compile(), program, torch.ones(3, requires_grad=True)).graphs[0]

    assert [output.role for output in forward.outputs] == ["output", "saved", "saved"]


@torch.compiler.nested_compile_region
def region(x: torch.Tensor) -> torch.Tensor:
    return x.sin() * 2


def test_a_nested_region_is_known_by_its_body(captured: Captures) -> None:
    found = captured(Compile(), lambda x: region(region(x)), torch.ones(3))

    assert "higher_order.invoke_subgraph(@body_1, None, %x)" in print_program(found)


def test_an_argument_aliases_what_it_did_before_the_program_ran(captured: Captures) -> None:
    def program(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.set_(b)
        return a * 2

    found = captured(MakeFx(), program, torch.ones(3), torch.ones(4))

    assert [value.alias for value in found.graphs[0].inputs] == [None, None]
    assert "aten.set_.source_Tensor(%a, %b) {write %a, alias %a, %b}" in print_program(found)


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors:UserWarning")
def test_masked_tensors_have_no_bytes_to_save(captured: Captures) -> None:
    masked = torch.masked.masked_tensor(torch.ones(3), torch.tensor([True, False, True]))

    assert captured(MakeFx(), lambda a: a.get_data() * 2, masked).check == "a::b"


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(100))
        self.register_buffer("offset", torch.randn(100))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight + self.offset


def test_a_graph_of_the_users_has_parameters_and_no_digest_of_them() -> None:
    graph = lower_module(torch.fx.symbolic_trace(Scaled()), check="a::b").program.graphs[0]

    assert [(value.role, value.name) for value in graph.inputs] == [
        ("input", "x"), ("parameter", "weight"), ("buffer", "offset"),
    ]  # fmt: skip


def test_a_graph_of_the_users_keeps_the_values_of_constants() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    module = make_fx(lambda x: x + torch.tensor([1.0, 2.0]))(torch.ones(2))

    assert "constant([1.0, 2.0])" in print_program(lower_module(module, check="a::b").program)


def test_a_graph_that_reaches_for_nothing_is_refused() -> None:
    graph = torch.fx.Graph()
    graph.output(graph.create_node("get_attr", "no.such"))
    module = torch.fx.GraphModule(nn.Module(), torch.fx.Graph())
    module._graph = graph

    with pytest.raises(UsageError, match=r'get_attr "no.such", got a module without "no"'):
        lower_module(module, check="a::b")


def test_a_message_that_torch_wrote_holds_no_names() -> None:
    class Cut(nn.Module):
        def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
            size = n.item()
            torch._check(size < x.shape[0])
            return x[:size]

    module = torch.export.export(Cut(), (torch.ones(9), torch.tensor(3))).graph_module

    assert 'aten._assert_scalar.default(%1, "Runtime assertion failed")' in print_program(
        lower_module(module, check="a::b").program
    )


def test_make_fx_knows_the_local_part_of_a_dtensor(captured: Captures, meshes: Meshes) -> None:
    from torch.distributed.tensor import DTensor, Shard

    mesh = meshes.mesh((4,), ("tp",))
    modes: tuple[Literal["real", "symbolic"], ...] = ("real", "symbolic")
    for mode in modes:
        whole = DTensor.from_local(torch.ones(3, 5), mesh, [Shard(0)], run_check=False)
        seen = captured(MakeFx(mode), lambda x: x * 2, whole).graphs[0].inputs[0].type
        assert isinstance(seen, DTensorType)
        local = seen.local

        assert len(set(local.shape)) == 2
        assert mode == "symbolic" or local.shape == (3, 5)


def test_a_dtensor_constant_is_its_local_part(captured: Captures, meshes: Meshes) -> None:
    from torch.distributed.tensor import DTensor, Replicate

    whole = DTensor.from_local(torch.ones(2), meshes.mesh((4,), ("tp",)), [Replicate()], run_check=False)

    assert "constant([[1.0, 1.0]])" in print_program(captured(MakeFx(), lambda x: (x, whole), torch.ones(2)))


def test_a_collective_in_place_writes_and_says_its_ranks(captured: Captures, meshes: Meshes) -> None:
    import torch.distributed as dist

    mesh = meshes.mesh((2, 4), ("dp", "tp"))

    def program(x: torch.Tensor) -> torch.Tensor:
        dist.all_reduce(x, group=mesh.get_group("tp"))
        return x * 2

    text = print_program(captured(MakeFx(), program, torch.ones(2)))

    assert "group(0, 1, 2, 3)" in text
    assert "{write %x, alias %x, comm 0, 1, 2, 3}" in text
    assert "operator.getitem(%0, 0) {alias %0}" in text


def test_a_submesh_that_a_warm_cache_asks_for_is_no_node(meshes: Meshes) -> None:
    def get_submesh(mesh: object, dims: list[int]) -> object:
        return mesh, dims

    get_submesh.__module__ = "torch._ops.device_mesh.DeviceMesh"  # as torch 2.13 traces a method of an opaque mesh
    graph = torch.fx.Graph()
    mesh = graph.placeholder("mesh")
    mesh.meta["val"] = meshes.mesh((2, 4), ("dp", "tp"))
    submesh = graph.call_function(get_submesh, (mesh, [0]))
    submesh.meta["val"] = mesh.meta["val"]["tp"]
    graph.output((submesh,))
    lowered = lower_module(torch.fx.GraphModule(nn.Module(), graph), check="a::b").program.graphs[0]

    assert (lowered.inputs, lowered.nodes, lowered.outputs) == ((), (), ())

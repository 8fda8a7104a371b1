"""Whole graphs: inputs, pytrees, symbols, bodies, groups and outer types, through the tracers that know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from guard.ir.canonical import equal
from guard.ir.printer import print_program
from guard.specs import AotJoint, Compile, MakeFx

if TYPE_CHECKING:
    from guard.ir.graph import Program
    from guard.specs import Tracer
    from guard.tracers.mesh import Meshes
    from tests.captures import Captures


def text(program: Program) -> str:
    return print_program(program)


def test_inputs_are_named_by_parameter_and_path(captured: Captures) -> None:
    def program(batch: Any, *xs: Any, scale: float = 1.0) -> Any:
        return {"sum": batch["a"] + xs[0], "pair": (xs[1] * scale, 3)}

    one = torch.ones(2)
    found = captured(MakeFx(), program, {"a": one}, one.clone(), one.clone(), scale=2.0)

    assert [value.name for value in found.graphs[0].inputs] == ["batch.a", "xs.0", "xs.1", "scale"]
    assert '  inputs (({"a": *}, *, *), {"scale": *})' in text(found)
    assert '  outputs {"sum": *, "pair": (*, *)}' in text(found)
    assert "%scale: float(2.0)" in text(found)
    assert "return %0, %1, 3" in text(found)


def test_inputs_and_outputs_may_be_numbers_none_and_text(captured: Captures) -> None:
    def program(x: torch.Tensor, *rest: Any) -> Any:
        return x * rest[0], None, rest[0], x

    found = captured(MakeFx(), program, torch.ones(2), *(3, True, None, "s", 0.5))
    symbolic = captured(MakeFx("symbolic"), program, torch.ones(2), 3)

    flat = " ".join(text(found).split())
    assert '%rest.0: int(3), %rest.1: bool(True), %rest.2: None, %rest.3: str("s"), %rest.4: float(0.5) )' in flat
    assert "-> (f32[2], None, int(3), alias %x: f32[2])" in flat
    assert "%rest.0: SymInt(s1)" in text(symbolic)


def test_an_input_that_shares_storage_names_the_first(captured: Captures) -> None:
    base = torch.ones(4)
    found = captured(MakeFx(), lambda a, b: a + b, base, base[:])

    assert found.graphs[0].inputs[1].alias == "a"


def test_a_linear_holds_whatever_its_weights(captured: Captures) -> None:
    first = captured(MakeFx(), nn.Linear(3, 2), torch.ones(1, 3))
    second = captured(MakeFx(), nn.Linear(3, 2), torch.ones(1, 3))

    assert text(first) == text(second)
    assert [value.role for value in first.graphs[0].inputs] == ["parameter", "parameter", "input"]


def test_a_closed_over_module_gives_parameters_and_no_digest(captured: Captures) -> None:
    layer = nn.Linear(3, 2)
    found = captured(MakeFx(), lambda x: layer(x) + 0, torch.ones(1, 3))

    assert [(value.role, value.name) for value in found.graphs[0].inputs] == [
        ("input", "x"), ("parameter", "weight"), ("parameter", "bias"),
    ]  # fmt: skip
    assert "constant" not in text(found)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(x))


def test_a_tied_parameter_prints_both_names(captured: Captures) -> None:
    weight = captured(MakeFx(), Tied(), torch.tensor([1, 2])).graphs[0].inputs[0]
    first, second = captured(AotJoint(), Tied(), torch.tensor([1, 2])).graphs[0].inputs[:2]

    assert (weight.role, weight.name, weight.labels) == ("parameter", "embed.weight", ("head.weight",))
    assert (first.name, first.labels) == ("embed.weight", ("head.weight",))
    assert (second.role, second.name, second.alias) == ("parameter", "head.weight", "embed.weight")


def test_symbols_are_numbered_by_first_use_and_constrained(captured: Captures) -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        torch._check(x.shape[0] <= 64)
        return torch.cat([x, y]).view(-1, 2)

    found = captured(MakeFx("symbolic"), program, torch.ones(6, 2), torch.ones(4, 2))

    assert "graph main(%x: f32[s0, 2], %y: f32[s1, 2])" in text(found)
    assert "where s0 <= 64" in text(found)


def test_a_symbol_that_tracing_makes_a_number_is_a_number(captured: Captures) -> None:
    found = captured(MakeFx("symbolic"), lambda x, y: x + y, torch.ones(3), torch.ones(3))
    fixed = captured(MakeFx("symbolic"), lambda x: x.view(3, -1) if x.shape[0] == 6 else x, torch.ones(6))

    assert "(%x: f32[s0], %y: f32[s0])" in text(found)
    assert "%x: f32[6]" in text(fixed)


def test_a_divisibility_guard_is_a_constraint(captured: Captures) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] % 8 == 0 else x

    assert "where s0 % 8 == 0" in text(captured(MakeFx("symbolic"), program, torch.ones(16)))


def test_identical_bodies_are_printed_once(captured: Captures) -> None:
    cond = torch.ops.higher_order.cond

    def program(x: torch.Tensor) -> Any:
        first = cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,))
        return cond(x.sum() > 1, lambda t: t.cos(), lambda t: t.sin(), (first,))

    found = captured(MakeFx(), program, torch.ones(2))

    assert [body.name for body in found.bodies] == ["body_1", "body_2"]
    assert "@body_1, @body_2" in text(found)
    assert "@body_2, @body_1" in text(found)


def test_a_group_prints_its_ranks_whatever_its_name(captured: Captures, meshes: Meshes) -> None:
    import torch.distributed as dist
    from torch.distributed.tensor import DTensor, Replicate, Shard

    meshes.mesh((4,))

    def gathered() -> str:
        mesh = meshes.mesh((2, 2), names=("a", "b"))["b"]

        def program(x: torch.Tensor) -> torch.Tensor:
            return DTensor.from_local(x, mesh, [Shard(0)], run_check=False).redistribute(mesh, [Replicate()]).to_local()

        return text(captured(MakeFx(), program, torch.ones(2, 2)))

    first = gathered()
    dist.new_group([0, 1])

    assert "group(0, 1)) {comm 0, 1}" in first
    assert gathered() == first


class Scale(nn.Module):
    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.weight).sin()


@pytest.mark.parametrize("spec", [AotJoint(), Compile()], ids=["joint", "compile"])
def test_inputs_outputs_tangents_and_gradients_are_dtensors(captured: Captures, meshes: Meshes, spec: Tracer) -> None:
    from torch.distributed.tensor import DTensor, Replicate, Shard

    mesh = meshes.mesh((2,))
    weight = DTensor.from_local(torch.ones(4), mesh, [Replicate()], run_check=False)
    x = DTensor.from_local(torch.ones(3, 4), mesh, [Shard(0)], run_check=False)
    found = text(captured(spec, Scale(weight), x))

    assert "%x: dt<f32[6, 4], mesh(2), [S(0)]> local f32[3, 4]" in found
    assert "parameter %weight: dt<f32[4], mesh(2), [R]> local f32[4] requires_grad" in found
    assert "tangent %tangent.0: dt<f32[6, 4], mesh(2), [S(0)]> local f32[3, 4]" in found
    assert 'weight": dt<f32[4], mesh(2), [P(sum)]>' in found.replace("grad %weight:", 'grad "weight":')
    assert "DeviceMesh" not in found


def test_two_programs_that_differ_in_an_outputs_placement_only_are_not_equal(
    captured: Captures, meshes: Meshes
) -> None:
    from torch.distributed.tensor import DTensor, Partial, Placement, Replicate

    mesh = meshes.mesh((2,))

    def placed(placement: Placement) -> Any:
        return lambda x: DTensor.from_local(x * 2, mesh, [placement], run_check=False)

    x = torch.ones(2, requires_grad=True)
    partial, whole = (captured(AotJoint(), placed(p), x) for p in (Partial(), Replicate()))

    assert partial.graphs[0].nodes == whole.graphs[0].nodes
    assert not equal(partial, whole)


def test_a_graph_break_and_a_recompile_carry_the_users_line(captured: Captures) -> None:
    calls: list[int] = []

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y + len(calls)

    def counting(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x + len(calls)

    broken = captured(Compile(), program, torch.ones(2))
    again = captured(Compile(), counting, torch.ones(2))

    assert [graph.name for graph in broken.graphs] == ["forward", "forward_2"]
    assert [(event.kind, event.code) for event in broken.events] == [("break", "torch._dynamo.graph_break()")]
    assert [event.kind for event in again.events] == ["recompile"]


def test_a_dynamic_compile_has_symbols(captured: Captures) -> None:
    found = captured(Compile(dynamic=True), lambda x: x.view(-1) * 2, torch.ones(3, 5))

    assert "f32[s0, s1]" in text(found)


def test_the_same_program_gives_the_same_bytes_warm_and_cold(captured: Captures) -> None:
    program = nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.BatchNorm1d(3))
    args = torch.ones(2, 3)

    for spec in (MakeFx(), MakeFx("symbolic"), AotJoint(), Compile()):
        assert text(captured(spec, program, args)) == text(captured(spec, program, args)), spec


def test_a_wrapper_subclass_names_its_inner_tensors(captured: Captures) -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    pair = TwoTensor(torch.ones(3), torch.ones(3))
    found = text(captured(AotJoint(), lambda x: x * 2, pair))

    assert "%x.a: TwoTensor<f32[3]>.a of f32[3]" in found
    assert "%x.b: TwoTensor<f32[3]>.b of f32[3]" in found


def test_nodes_carry_the_users_line_and_guards_own_is_none_of_them(captured: Captures) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    (node,) = captured(MakeFx(), program, torch.ones(2)).graphs[0].nodes
    line = program.__code__.co_firstlineno + 1

    assert node.source is not None
    assert node.source.endswith(f"test_captures.py:{line}")


class Passing(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def test_a_modes_handler_is_not_the_users_line(captured: Captures) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    with Passing():
        (node,) = captured(MakeFx(), program, torch.ones(2)).graphs[0].nodes

    assert str(node.source).endswith(f":{program.__code__.co_firstlineno + 1}")

"""FLOPs are those of torch's own counter, and what has no formula is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode

from guard.cost import flops
from guard.cost.amount import evaluate, text
from guard.cost.graph import program_cost
from guard.ir.parser import parse_bytes
from guard.tracers.capture import lower_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.graph import Program


def capture(program: Callable[..., Any], *args: Any, mode: str = "real") -> Program:
    return lower_module(make_fx(program, tracing_mode=mode)(*args), check="a::b").program


def convolve(x: torch.Tensor, w: torch.Tensor) -> Any:
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = torch.nn.functional.conv2d(x, w, padding=1)
    return torch.autograd.grad(y.sum(), (x, w))


def transposed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.conv_transpose2d(x, w)


def products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.baddbmm(x, x, y) + torch.addmm(x[0], x[1], y[1]) + (x @ y)


PROGRAMS = {
    "convolve": (convolve, torch.ones(2, 3, 8, 8), torch.ones(4, 3, 3, 3)),
    "transposed": (transposed, torch.ones(2, 3, 8, 8), torch.ones(3, 4, 3, 3)),
    "products": (products, torch.ones(2, 8, 8), torch.ones(2, 8, 8)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_sum_is_that_of_torchs_counter(name: str) -> None:
    program, *args = PROGRAMS[name]
    with FlopCounterMode(display=False) as counter:
        program(*args)
    found = program_cost(capture(program, *args), flops.formulas()).total
    assert found.flops == counter.get_total_flops() > 0
    assert not found.no_formula


def test_symbolic_sizes() -> None:
    found = program_cost(
        capture(lambda x, y: x @ y, torch.ones(3, 5), torch.ones(5, 7), mode="symbolic"), flops.formulas()
    )
    assert found.total.flops is not None
    assert text(found.total.flops) == "s0*s1*s2*2"
    assert evaluate(found.total.flops, {"s0": 3, "s1": 5, "s2": 7}) == 210
    convolved = capture(transposed, torch.ones(2, 3, 8, 8), torch.ones(3, 4, 3, 3), mode="symbolic")
    assert not program_cost(convolved, flops.formulas()).total.no_formula


def test_what_has_no_formula_is_listed() -> None:
    found = program_cost(capture(lambda x: x.mv(x[0]) + x.sin()[0], torch.ones(4, 4)), flops.formulas()).total
    assert (found.flops, found.no_formula) == (0, {"aten.mv.default": 1})


def test_formulas_that_take_tensors() -> None:
    """Those registered with get_raw=True read .shape, and offsets' device."""
    from guard.ir.graph import Node, Ref, Result
    from guard.ir.types import TensorType

    query = TensorType("f32", (1, 16, 4, 8))
    node = Node(
        (Result("0", query),), "aten._efficient_attention_forward.default",
        (Ref("q"), Ref("q"), Ref("q"), None, None, None, None, None, 0.0, 0),
    )  # fmt: skip
    formulas = flops.formulas()
    assert formulas is not None
    assert formulas(node, {"q": query}) == 2 * (2 * 16 * 4 * 4 * 8)


def test_a_users_formula_counts() -> None:
    with torch.library._scoped_library("guard_cost", "DEF") as library:
        library.define("triple(Tensor x) -> Tensor")
        library.impl("triple", lambda x: x * 3, "CompositeExplicitAutograd")
        packet = torch.ops.guard_cost.triple
        flop_counter.register_flop_formula(packet)(lambda x_shape, **_: 3 * x_shape[0])
        try:
            found = program_cost(capture(packet, torch.ones(4)), flops.formulas()).total
        finally:
            del flop_counter.flop_registry[packet]
    assert found.flops == 12


@pytest.mark.parametrize("broken", ["gone", "renamed", "other"])
def test_a_torch_that_keeps_them_elsewhere_has_none(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    mm = torch.ops.aten.mm
    tables: dict[str, dict[Any, Any]] = {
        "renamed": {},
        "other": {mm: lambda *_args, **_kwargs: 1},
    }
    if broken == "gone":
        monkeypatch.delattr(flop_counter, "flop_registry")
    else:
        monkeypatch.setattr(flop_counter, "flop_registry", tables[broken])
    assert flops.formulas() is None
    assert program_cost(capture(lambda x: x @ x, torch.ones(4, 4))).total.flops is None


def first_row(x: torch.Tensor) -> torch.Tensor:
    x[0] += 1
    return x * 2


def test_bytes_rewritten_by_a_write_to_a_row() -> None:
    x = torch.ones(4, 8)
    row = program_cost(capture(first_row, x)).total
    whole = program_cost(capture(torch.func.functionalize(first_row), x)).total
    assert row.rewritten == 2 * 32  # add_ to the row, and Python's own x[0] = x[0]
    assert whole.rewritten == 4 * 32  # made functional, all of x is copied back
    assert program_cost(capture(lambda x: x * 2, x)).total.rewritten == 0


def test_every_baseline_of_the_project_has_a_cost() -> None:
    paths = sorted((Path(__file__).parents[2] / "baselines").rglob("*.graph"))
    formulas = flops.formulas()
    programs = [parse_bytes(path.read_bytes(), path.name) for path in paths]
    prices = [program_cost(program, formulas).total for program in programs if program.error is None]
    assert len(prices) > 100
    assert [found.untyped for found in prices] == [0] * len(prices)
    assert not any(found.no_formula for found in prices)
    assert sum(bool(found.flops) for found in prices) > 20

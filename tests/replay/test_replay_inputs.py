from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from guard.ir.parser import parse_program
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.refusal import RefusedError
from guard.replay.inputs import draw
from guard.replay.sizes import sizes_of

if TYPE_CHECKING:
    from guard.ir.graph import Graph


def graph(inputs: str, where: str = "") -> Graph:
    constraint = f"  where {where}\n" if where else ""
    text = f"guard-graph 1\ncheck a::b\ntracer t\n\ngraph main({inputs}) -> (None) {{\n{constraint}  return None\n}}\n"
    return parse_program(text).graphs[0]


def test_inputs_have_the_types_of_the_signature() -> None:
    drawn = draw(
        graph("%a: f32[3, s0]{1, 3}, %b: i64[5], %n: SymInt(s0*2), %k: int(7), buffer %v: f64[2], %h: bf16[4]{2}+1"),
        {"s0": 4},
    )

    a, b, n, k, v, h = drawn
    assert (a.shape, a.stride(), a.dtype) == ((3, 4), (1, 3), torch.float32)
    assert set(b.tolist()) <= {0, 1}
    assert (n, k) == (8, 7)
    assert bool((v > 0).all())
    assert (h.stride(), h.storage_offset(), h.dtype) == ((2,), 1, torch.bfloat16)


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    one = graph("%a: f32[8], %b: f32[8]")

    first, again, other = (draw(one, {}, seed) for seed in (1, 1, 2))

    assert torch.equal(first[0], again[0])
    assert not torch.equal(first[0], other[0])
    assert not torch.equal(first[0], first[1])


def test_inputs_that_share_storage_are_one_tensor() -> None:
    a, b = draw(graph("%a: f32[8], %b: f32[8] alias %a"), {})
    assert a is b
    with pytest.raises(RefusedError, match="another view"):
        draw(graph("%a: f32[8], %b: f32[4] alias %a"), {})


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ("%a: f32[1000000, 1000000]", "bytes, wanted at most"),
        ("%a: f32[4]@cuda:63", 'input "a"'),
        ('%a: opaque("Thing")', "not drawn"),
        ("%a: str", "not drawn"),
        ("%a: f32[s7]", 'symbol "s7"'),
    ],
)
def test_what_cannot_be_drawn_is_refused(inputs: str, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        draw(graph(inputs), {})


@pytest.mark.parametrize(
    "where",
    ["s0 % 8 == 0", "s0 in [2, 5]", "s0 == s1*2", "s0 >= 3000", "s0 // 2 != s1, s1 <= 7", "s0 != s1"],
)
def test_sizes_satisfy_the_constraints(where: str) -> None:
    one = graph("%a: f32[s0, s1]", where)

    sizes = sizes_of(one, one.where)

    assert all(value_of(constraint, sizes) for constraint in one.where)
    assert all(size >= 2 for size in sizes.values())


def test_constraints_without_a_solution_are_refused() -> None:
    one = graph("%a: f32[s0]", "s0 > 5, s0 < 5")
    with pytest.raises(RefusedError, match="no sizes"):
        sizes_of(one, one.where)

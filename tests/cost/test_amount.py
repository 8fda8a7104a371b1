"""Amounts: polynomials over sizes that formulas can compute with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.cost.amount import Largest, Poly, TooLargeError, amount, evaluate, largest, sign, text, trend
from guard.cost.sizes import Sizes
from guard.ir.expr import Apply, Symbol
from guard.ir.types import TensorType

S0, S1 = Symbol("s0"), Symbol("s1")
A, B = amount(S0), amount(S1)
SIZES = {"s0": 3, "s1": 5}

exprs = st.recursive(
    st.one_of(st.integers(-4, 9), st.sampled_from([S0, S1])),
    lambda inner: st.builds(
        Apply, st.sampled_from(["+", "*", "max", "min"]), st.lists(inner, min_size=2, max_size=3).map(tuple)
    ),
    max_leaves=8,
)


def value(expr: object) -> int:
    """Evaluate an expression without amounts."""
    if isinstance(expr, Symbol):
        return SIZES[expr.name]
    if not isinstance(expr, Apply):
        assert isinstance(expr, int)
        return expr
    args = [value(arg) for arg in expr.args]
    if expr.function == "*":
        product = 1
        for arg in args:
            product *= arg
        return product
    return sum(args) if expr.function == "+" else max(args) if expr.function == "max" else min(args)


@given(exprs, exprs)
def test_arithmetic_is_that_of_the_numbers(one: Apply, other: Apply) -> None:
    a, b = amount(one), amount(other)
    x, y = value(one), value(other)
    assert evaluate(a, SIZES) == x
    assert evaluate(a + b, SIZES) == x + y
    assert evaluate(a - b, SIZES) == x - y
    assert evaluate(a * b, SIZES) == x * y
    assert evaluate(2 * a + 1 - b, SIZES) == 2 * x + 1 - y


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)), max_size=30))
def test_the_largest_is_no_smaller_than_any(rows: list[tuple[int, int, int]]) -> None:
    values = [A * a + B * b + c for a, b, c in rows]
    found = evaluate(largest(*values), SIZES)
    assert isinstance(found, int)
    assert found >= max([0, *(3 * a + 5 * b + c for a, b, c in rows)])
    if len(set(values)) <= 8:  # no bound stands in for it
        assert found == max([0, *(3 * a + 5 * b + c for a, b, c in rows)])


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (4096, "4096"),
        (A * B * 4 + 16, "s0*s1*4 + 16"),
        (A + -A, "0"),
        ((A + 1) * (A - 1), "s0*s0 - 1"),
        (amount(Apply("**", (S0, 2))), "s0*s0"),
        (amount(Apply("//", (S0, 2))) * 4, "(s0 // 2)*4"),
    ],
)
def test_text(found: int | Poly, wanted: str) -> None:
    assert text(found) == wanted


def test_what_depends_on_sizes_has_no_sign() -> None:
    assert (sign(A), sign(A * -1), sign(A - A), sign(A - 4)) == (1, -1, 0, None)
    assert trend(A * A * 4 - 4) == 1  # sizes are at least 2
    assert trend(4 - A * A * 4) == -1
    assert trend(A * 100 - A * A) is None
    assert isinstance(A, Poly)
    assert A < A + 1
    with pytest.raises(TypeError):
        assert A < B
    with pytest.raises(TypeError):
        assert A % B


def test_an_expression_that_is_not_understood_stays_symbolic() -> None:
    odd = amount(Apply("where", (Apply("==", (S0, 1)), S0, S1)))
    assert evaluate(odd, SIZES) == odd
    assert evaluate(A * B, {"s0": 3}) == A * B
    assert evaluate(amount(Apply("//", (S0, 0))), SIZES) == amount(Apply("//", (S0, 0)))


def test_products_are_not_multiplied_out_without_end() -> None:
    sums = tuple(Apply("+", (Symbol(f"s{number}"), 1)) for number in range(40))
    with pytest.raises(TooLargeError):
        amount(Apply("*", sums))
    assert Sizes().of(TensorType("f32", sums)) is None
    assert Sizes().of(TensorType("f32", sums[:8])) is not None


def test_many_candidates_give_a_bound() -> None:
    most = Largest()
    for number in range(30):
        most.add(A * number + B * (30 - number))
    found = evaluate(most.amount(), SIZES)
    assert isinstance(found, int)
    assert 5 * 30 <= found <= 3 * 29 + 5 * 30
    assert len(text(most.amount())) < 200


def test_a_maximum_of_maxima_stays_short() -> None:
    inner: int | Poly = A
    for number in range(30):
        inner = largest(*(inner * A * k + B * (9 - k) + number for k in range(1, 8)))
    assert len(text(inner)) < 100_000

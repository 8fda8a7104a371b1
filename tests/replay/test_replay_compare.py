from __future__ import annotations

from typing import Any

import pytest
import torch

from guard.ir.rebuild.refusal import RefusedError
from guard.replay.compare import first_difference
from guard.replay.state import State, same_bits

ONE = torch.ones(2, 3)


def wrong(at: tuple[int, int]) -> torch.Tensor:
    made = ONE.clone()
    made[at] = 5.0
    return made


@pytest.mark.parametrize(
    ("wanted", "got", "said"),
    [
        (ONE, ONE.clone(), None),
        (ONE, ONE + 1e-7, None),
        (ONE * torch.nan, ONE * torch.nan, None),
        (ONE.bfloat16(), ONE.bfloat16() + 0.0078125, None),
        (ONE.T, ONE.T.contiguous(), None),
        (ONE, wrong((1, 2)), "out [1, 2]: wanted 1.0, got 5.0"),
        (ONE, wrong((0, 0)), "out [0, 0]: wanted 1.0, got 5.0"),
        (torch.tensor(1), torch.tensor(2), "out: wanted 1, got 2"),
        (ONE, ONE + 1e-3, "out [0, 0]: wanted 1.0, got 1.00100"),
        (ONE, ONE.double(), "out: wanted dtype float32, got float64"),
        (ONE, ONE[0], "out: wanted shape [2, 3], got [3]"),
        (ONE, 1.0, "out: wanted Tensor, got float"),
        (1, True, "out: wanted int, got bool"),
        (2, 3, "out: wanted 2, got 3"),
        (float("nan"), float("nan"), None),
        (None, None, None),
        ([ONE, ONE], [ONE, wrong((0, 1))], "out[1] [0, 1]: wanted 1.0, got 5.0"),
    ],
)
def test_the_first_wrong_element_is_named(wanted: Any, got: Any, said: str | None) -> None:
    found = first_difference([wanted], [got], ["out"])

    assert found == said if said is None else str(found).startswith(said)


def test_the_first_of_several_is_found_in_a_large_tensor() -> None:
    wanted = torch.zeros(1000, 7)
    got = wanted.clone()
    got[613, 4] = got[999, 6] = 1.0

    assert first_difference([wanted], [got], ["out"]) == "out [613, 4]: wanted 0.0, got 1.0"


def test_another_number_of_outputs_differs() -> None:
    assert first_difference([ONE], [ONE, ONE], ["out"]) == "wanted 1 values, got 2"


def test_what_was_written_is_put_back_and_nothing_else_is_touched() -> None:
    a, b = ONE.clone(), torch.tensor([1, 2])
    state = State([a, b, 3])

    a.add_(1)
    state.look()
    assert [index for index, _ in state.written()] == [0]
    state.restore()

    assert torch.equal(a, ONE)
    assert state.count == 1


def test_a_resized_input_is_refused() -> None:
    a = torch.ones(2)
    state = State([a])
    a.resize_(5)
    with pytest.raises(RefusedError, match="resizes"):
        state.look()


def test_bits_tell_what_equality_does_not() -> None:
    assert same_bits(torch.tensor([torch.nan]), torch.tensor([torch.nan]))
    assert not same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert same_bits(torch.ones(2, 1).expand(2, 3), torch.ones(2, 3))
    assert same_bits(torch.zeros(0), torch.zeros(0))
    assert not same_bits(torch.ones(2), torch.ones(2).double())

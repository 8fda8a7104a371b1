"""What is left out by its name is there by that name in this torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.passes import shape_prop

from guard.cost.trace.tally import BY_ADDRESS, HISTORY, uncounted

LEFT_OUT = (torch._ops.OpOverload._uncache_dispatch, shape_prop._extract_tensor_metadata)


@pytest.mark.parametrize("function", LEFT_OUT, ids=lambda function: function.__name__)
def test_the_name_is_torch_s(function: Any) -> None:
    assert uncounted(function.__code__)


def test_there_is_no_name_that_nothing_has() -> None:
    assert {function.__name__ for function in LEFT_OUT} == HISTORY | BY_ADDRESS

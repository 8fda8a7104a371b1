from __future__ import annotations

import pytest

from guard.errors import UsageError
from guard.tracers.capture import lower_module


@pytest.mark.parametrize("module", [None, "text"])
def test_what_is_no_graph_is_refused(module: object) -> None:
    with pytest.raises(UsageError, match=r"wanted a torch\.fx\.GraphModule, got (NoneType|str)"):
        lower_module(module, check="a::b")

"""One row, one test; those that a program of torch 2.13 reaches are also in test_errors_kinds.py."""

from __future__ import annotations

import pytest

from guard.tracers.errors.causes import CAUSES, find_cause
from guard.tracers.errors.chain import Link

TRACE = "torch/fx/experimental/proxy_tensor.py:trace"
SLOT = "torch/fx/experimental/proxy_tensor.py:get_proxy_slot"
SYNC = "torch/_subclasses/functional_tensor.py:_sync_view_replay_annotations"
DISPATCH = "torch/distributed/tensor/_dispatch.py:dispatch"


def cause(kind: str, text: str, *places: str) -> str:
    return find_cause(kind, Link(("RuntimeError",), text, (), (), "", implicit=False), places) or ""


@pytest.mark.parametrize(
    ("kind", "text", "places", "wanted"),
    [
        ("untracked-proxy", "cannot find", (TRACE, TRACE, SYNC), "pytorch#113034: make_fx ran under"),
        ("untracked-proxy", "not tracked", (TRACE, "<user>", TRACE, SLOT), "pytorch#93290: an inner make_fx shared"),
        ("untracked-proxy", "s is not tracked", (TRACE, DISPATCH, SLOT), "pytorch#167657: a DTensor is an argument"),
        ("unsupported", "shape_env should be set", (TRACE,), "pytorch#93290: an inner symbolic make_fx"),
        ("fake-constant", "Unexpected fake buffer x", (), "pytorch#164732: a fake tensor of an earlier pass"),
        ("fake-constant", "Mixing fake modes NYI", (TRACE,), "pytorch#153062: a fake tensor of an earlier trace"),
        ("partitioner", "Node view_2 was invalid, but is output", (), "pytorch#172549: an output and a detached alias"),
    ],
)  # fmt: skip
def test_row(kind: str, text: str, places: tuple[str, ...], wanted: str) -> None:
    assert cause(kind, text, *places).startswith(wanted)


@pytest.mark.parametrize(
    ("kind", "text", "places"),
    [
        ("untracked-proxy", "s is not tracked", (TRACE, SLOT)),  # one make_fx alone
        ("data-dependent", "s is not tracked", (TRACE, TRACE, SLOT)),
        ("unsupported", "no fake impl", (TRACE,)),
        ("fake-constant", "Please convert all Tensors to FakeTensors first", (TRACE,)),
        ("program", "no", (TRACE, TRACE, DISPATCH)),
    ],
)
def test_no_row_claims_what_is_not_its_own(kind: str, text: str, places: tuple[str, ...]) -> None:
    assert cause(kind, text, *places) == ""


def test_every_row_is_tested_and_names_a_number_and_a_way_out() -> None:
    assert len(CAUSES) == 7
    for row in CAUSES:
        assert row.reference.startswith("pytorch#")
        assert row.what
        assert row.way_out

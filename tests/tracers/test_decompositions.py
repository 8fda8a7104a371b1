from __future__ import annotations

from typing import Any

import pytest
import torch

from guard.errors import UsageError
from guard.specs import AotJoint, Compile, MakeFx
from guard.tracers.capture import Job, capture, tracer_text
from guard.tracers.decompositions import table


def test_a_header_says_what_is_not_at_its_default() -> None:
    decompose: Any = {torch.ops.aten.addmm.default: lambda *_: None, torch.ops.aten.add.Tensor: lambda *_: None}

    assert tracer_text(MakeFx()) == "make_fx(tracing_mode=real)"
    assert tracer_text(MakeFx("fake", pre_dispatch=True)) == "make_fx(tracing_mode=fake, pre_dispatch=True)"
    assert tracer_text(AotJoint(decompositions="core_aten")) == "aot_joint(decompositions=core_aten)"
    assert tracer_text(Compile(dynamic=True)) == "compile(dynamic=True)"
    assert tracer_text(MakeFx(decompositions=decompose)) == (
        "make_fx(tracing_mode=real, decompositions=[aten.add.Tensor, aten.addmm.default])"
    )


def test_another_name_than_core_aten_is_refused() -> None:
    wrong: Any = "core"
    with pytest.raises(UsageError, match="wanted a mapping or \"core_aten\", got 'core'"):
        table(wrong)


def test_something_else_than_a_tracer_is_refused() -> None:
    wrong: Any = torch.sin
    with pytest.raises(UsageError, match="wanted MakeFx, AotJoint or Compile"):
        capture(Job(wrong, torch.sin, (torch.ones(2),), {}), check="a::b", fixes="off")

"""Kernels are counted on a CUDA device alone, and copies are none."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.autograd import DeviceType

from guard.baselines.names import quoted
from guard.cost.paired import Benched, Paired, from_json, to_json
from guard.cost.run.kernels import counted, kernels_of
from guard.report.runs import as_rounds, as_text


@dataclass
class Event:
    name: str
    device_type: DeviceType = DeviceType.CUDA
    is_user_annotation: bool = False


def test_copies_fills_ranges_and_the_host_are_no_kernels() -> None:
    events = [
        Event("ampere_sgemm_128x64_tn"),
        Event("void at::native::vectorized_elementwise_kernel<4, ...>"),
        Event("Memcpy DtoD (Device -> Device)"),
        Event("Memset (Device)"),
        Event("ProfilerStep#1"),
        Event("my range", is_user_annotation=True),
        Event("aten::mm", DeviceType.CPU),
    ]

    assert counted(events) == 2


def test_on_a_cpu_there_are_none() -> None:
    assert kernels_of(lambda: torch.ones(3).sin(), "cpu") is None


def test_a_call_on_a_cuda_device_is_counted() -> None:
    if not torch.cuda.is_available():
        assert kernels_of(lambda: None, "cuda:0") is None
        return
    x = torch.ones(64, device="cuda")
    x.sin().cos()
    assert kernels_of(lambda: x.sin().cos(), "cuda:0") in {2, None}


def test_they_are_said_and_come_through_json() -> None:
    pair = Paired("main", values="same values", kernels=(12, 10))
    same = Paired("main", values="same values", kernels=(3, 3))

    assert from_json(to_json(pair)) == pair
    assert "  12 -> 10 kernels a call\n" in as_text([Benched("a::b", pairs=(pair,))])
    assert as_rounds([Benched("a::b", pairs=(same,))]) == (
        f"{quoted('a::b')}: holds, same values\n  3 kernels a call, as before\n"
    )

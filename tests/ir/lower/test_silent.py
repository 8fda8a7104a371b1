"""Effects that no schema has: running statistics, torch's in-place collectives, registered effects."""

from __future__ import annotations

import pytest
import torch
import torch.distributed

from guard.ir.lower.operators import describe

aten = torch.ops.aten


@pytest.mark.parametrize(
    "op",
    [
        aten.native_batch_norm.default, aten.batch_norm.default, aten.instance_norm.default,
        aten.batch_norm_update_stats.default, aten.batch_norm_gather_stats_with_counts.default,
    ],
)  # fmt: skip
def test_batch_norms_write_their_running_statistics(op: torch._ops.OpOverload) -> None:
    assert [argument.name for argument in describe(op).writes] == ["running_mean", "running_var"]


@pytest.mark.parametrize(
    "op",
    [
        aten._native_batch_norm_legit_no_training.default, aten._batch_norm_no_update.default,
        aten.native_batch_norm_backward.default,
    ],
)  # fmt: skip
def test_variants_that_keep_the_statistics_write_nothing(op: torch._ops.OpOverload) -> None:
    assert describe(op).writes == ()


def test_a_batch_norm_writes_only_while_training() -> None:
    assert getattr(describe(aten.native_batch_norm.default).training, "name", None) == "training"
    assert getattr(describe(aten.instance_norm.default).training, "name", None) == "use_input_stats"
    assert describe(aten.batch_norm_update_stats.default).training is None


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch built without torch.distributed")
def test_collectives_of_c10d_write_and_return_their_first_argument() -> None:
    reduce, gather = describe(torch.ops.c10d.allreduce_.default), describe(torch.ops.c10d._allgather_base_.default)

    assert [[a.name for a in op.writes] for op in (reduce, gather)] == [["tensors"], ["output_tensor"]]
    assert [[a.name for a in op.aliases] for op in (reduce, gather)] == [["tensors"], ["output_tensor"]]
    assert describe(torch.ops.c10d.send.default).writes == ()
    assert describe(torch.ops.c10d.monitored_barrier_.default).writes == ()


def test_a_print_is_a_barrier() -> None:
    assert describe(aten._print.default).barrier
    assert not describe(aten.sin.default).barrier

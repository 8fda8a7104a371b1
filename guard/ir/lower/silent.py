"""What operators do and their schemas do not say. Each rule has its evidence; all else is as the schema has it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Argument(NamedTuple):
    """Where an argument of a schema is found in a call."""

    place: int
    name: str


# Their variants that compute with running statistics and leave them as they are.
_KEEP_STATISTICS = ("functional", "backward", "no_training", "no_update")
_TRAINING = {"training", "train", "use_input_stats"}
# Namespaces of torch's own where a name like allreduce_ says what the schema leaves out
# (torch/csrc/distributed/c10d/Ops.cpp, torch/_inductor/inductor_prims.py and comms.py).
_UNDERSCORE_WRITES = {"c10d", "inductor"}


def writes_silently(op: Any, argument: Argument) -> bool:
    """Whether an operator writes an argument that its schema calls read-only."""
    return _writes_statistics(op, argument.name) or (_writes_by_name(op) and argument.place == 0)


def shares_silently(op: Any) -> bool:
    """Whether the results of such an operator are what it has written: a collective returns its tensors."""
    return _writes_by_name(op) and any("Tensor" in str(result.type) for result in op._schema.returns)


def _writes_statistics(op: Any, argument: str) -> bool:
    """Tell batch norm's running statistics.

    ``native_batch_norm`` and its composites take ``Tensor? running_mean`` and update it while training
    (aten/src/ATen/native/native_functions.yaml); so do ``batch_norm_update_stats`` and SyncBatchNorm's
    ``batch_norm_gather_stats``.
    """
    name = op._opname
    statistics = argument in {"running_mean", "running_var"} and "_norm" in name
    return statistics and not any(word in name for word in _KEEP_STATISTICS)


def _writes_by_name(op: Any) -> bool:
    name = op._opname
    return op.namespace in _UNDERSCORE_WRITES and name.endswith("_") and "barrier" not in name


def training_flag(op: Any) -> Argument | None:
    """Give the flag that must not be False for running statistics to be written."""
    arguments = op._schema.arguments
    if not any(_writes_statistics(op, argument.name) for argument in arguments):
        return None
    return next((Argument(place, a.name) for place, a in enumerate(arguments) if a.name in _TRAINING), None)


def is_ordered(op: Any) -> bool:
    """Whether torch knows of an effect that orders it: printing, or what a custom operator was registered with.

    ``torch.library`` keeps it aside from the schema (torch/_library/effects.py); torch < 2.10 has no such register.
    It has all that take a process group ordered too: collectives are that anyway.
    """
    if op.namespace == "c10d":
        return False
    try:
        from torch._higher_order_ops.effects import _get_effect

        return _get_effect(op) is not None
    except Exception:  # noqa: BLE001 - private to torch: without it the schema alone speaks, as everywhere else
        return False

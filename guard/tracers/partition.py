"""AOTAutograd's partition of a joint graph, with the descriptors that it loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functorch.compile import default_partition
from torch._functorch._aot_autograd.descriptors import SavedForBackwardsAOTOutput

if TYPE_CHECKING:
    import torch


def partitioned(joint: torch.fx.GraphModule, inputs: Any, **options: Any) -> tuple[Any, Any]:
    """Partition as torch's default does.

    Where a region recomputes random operators, functionalize_rng_ops (torch/_functorch/partitioners.py) makes the
    forward's output anew and drops what each output is: the program's come first, all others are saved.
    """
    found: tuple[Any, Any] = default_partition(joint, inputs, **options)
    output = _output(found[0])
    known = list(_output(joint).meta.get("desc") or ())
    if known and output.meta.get("desc") is None:
        count = options["num_fwd_outputs"]
        saved = len(output.args[0]) - count
        output.meta["desc"] = [*known[:count], *(SavedForBackwardsAOTOutput(index) for index in range(saved))]
    return found


def _output(module: torch.fx.GraphModule) -> torch.fx.Node:
    return next(iter(reversed(module.graph.nodes)))

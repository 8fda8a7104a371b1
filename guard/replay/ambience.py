"""Process-wide settings as a run leaves them: what a program changes, its graph has to change too."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Any

import torch

from guard.replay.ranks import Watching
from guard.tracers.state import modes
from guard.tracers.state.modes import modes_off

if TYPE_CHECKING:
    from collections.abc import Mapping


_DRAWS = "wanted as many as eager makes, got another number: what a trace draws by itself is a constant of its graph"


def ambience() -> dict[str, Any]:
    """Read what messages call each, in the order of reporting."""
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    stacks = modes.read()
    with modes_off():
        return {
            "grad mode": grad,
            "default dtype": str(dtype).removeprefix("torch."),
            "number of function modes": len(stacks.function),
            "number of dispatch modes": sum(not isinstance(mode, Watching) for mode in stacks.dispatch),
            "number of functorch levels": stacks.functorch,
            "draws from torch's generator": torch.default_generator.get_state().view(torch.int64).tolist(),
            "draws from Python's random": random.getstate(),
            "draws from numpy's random": _numpy(),
        }


def _numpy() -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    state = numpy.random.get_state()
    return (state[0], bytes(state[1].data), *state[2:])


def changed(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the first setting that two runs left differently, and both values; None where all agree."""
    for name, left in wanted.items():
        right = got[name]
        if left != right:
            return name, _DRAWS if name.startswith("draws") else f"wanted {left}, got {right}"
    return None

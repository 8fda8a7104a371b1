"""What switches gradients off and no graph holds: inference mode, and the autograd engine inside a program."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Unrecorded(TorchDispatchMode):
    """While open, note whether an operator runs under either.

    make_fx with pre_dispatch records no_grad's switches only. Open it around a run that is thrown away: the program
    can see it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ran: bool = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        inside = torch._C._current_graph_task_id() != -1
        self.ran = self.ran or torch.is_inference_mode_enabled() or inside
        return func(*args, **(kwargs or {}))

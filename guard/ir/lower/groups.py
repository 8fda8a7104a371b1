"""Process groups by their ranks: a group's name ('3', '4') depends on what was made before it (pytorch#189330)."""

from __future__ import annotations

from typing import Any

import torch

from guard.ir.graph import Arg, Group, Opaque


def group_arg(value: Any) -> Arg:
    """Turn a group's name, or a ProcessGroup, into its ranks; a name that resolves to nothing stays as it is."""
    ranks = group_ranks(value)
    if ranks is not None:
        return Group(ranks)
    return value if isinstance(value, str) else Opaque("ProcessGroup")


def group_ranks(value: Any) -> tuple[int, ...] | None:
    """Global ranks while the group lives, None otherwise."""
    try:
        import torch.distributed as dist
        from torch.distributed import distributed_c10d as c10d

        group = c10d._resolve_process_group(value) if isinstance(value, str) else getattr(value, "real_obj", value)
        if isinstance(group, torch.ScriptObject):  # as c10d's own operators take it
            group = dist.ProcessGroup.unbox(group)
        return tuple(dist.get_process_group_ranks(group))
    except Exception:  # noqa: BLE001 - a dead or foreign group raises whatever its backend does; the name is kept
        return None

"""Mutators: collectives, their operations, groups and waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tests.sensitivity.draft import (
    Draft,
    Node,
    Part,
    alike,
    bypass,
    fresh,
    has_schema,
    insert,
    is_collective,
    is_tensor,
    redirect,
)

if TYPE_CHECKING:
    from random import Random


def _c10d() -> Any:
    return torch.ops._c10d_functional


def world() -> int:
    """Ranks of the process group of the check that is being traced; 0 without one."""
    import torch.distributed as dist

    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 0


def group(*ranks: int) -> str:
    """Make a group of these ranks, and name it as a graph does."""
    import torch.distributed as dist

    made: Any = dist.new_group(list(ranks))
    return str(made.group_name)


def change_reduction(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: node.target is _c10d().all_reduce.default)
    if found is None:
        return _reduced(draft, random, change=lambda node, rest: setattr(node, "args", (node.args[0], "max", *rest)))
    node = found[1]
    node.args = (node.args[0], random.choice(["max", "avg", "min"]), *node.args[2:])
    return True


def change_group(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: is_collective(node) and isinstance(node.args[-1], str))
    if found is None:
        return False
    node = found[1]
    node.args = (*node.args[:-1], group(0))
    return True


def drop_collective(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: node.target is _c10d().all_reduce.default)
    if found is None:
        return False
    part, node = found
    for wait in list(node.users):
        wait.replace_all_uses_with(node.args[0])
        part.module.graph.erase_node(wait)
    part.module.graph.erase_node(node)
    return True


def drop_wait(draft: Draft, random: Random) -> bool:
    return bypass(draft.site(random, lambda _, node: node.target is _c10d().wait_tensor.default and bool(node.users)))


def add_collective(draft: Draft, random: Random) -> bool:
    return _reduced(draft, random)


def _reduced(draft: Draft, random: Random, change: Any = None) -> bool:
    """Reduce a value on its way to its users; with a change to it, do so on both sides and change it in current."""
    if not world():
        return False

    def wanted(_: Part, node: Node) -> bool:
        readers = [user for user in node.users if user.op == "output" or has_schema(user)]
        return is_tensor(node) and bool(readers) and node.meta["val"].is_floating_point() and _free(node)

    found = draft.site(random, wanted)
    if found is None:
        return False
    part, node = found
    reduce = reduced(part, node)
    if change is not None:
        draft.compare_with_this()
        change(reduce, reduce.args[2:])
    return True


def _free(node: Node) -> bool:
    return not is_collective(node) and all(
        not getattr(user.target, "_schema", None) or not user.target._schema.is_mutable for user in node.users
    )


def reduced(part: Part, node: Node) -> Node:
    """Reduce a value on its way to all its users."""
    value = node.meta["val"]
    name = group(*range(world()))
    reduce = insert(part, node, _c10d().all_reduce.default, (node, "sum", name), fresh(value))
    wait = insert(part, reduce, _c10d().wait_tensor.default, (reduce,), fresh(value))
    assert alike(node, wait) or not value.is_contiguous()
    redirect(node, wait)
    reduce.args = (node, "sum", name)
    return reduce

"""Mutators: conflicting effects that change places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tests.sensitivity.draft import (
    Draft,
    Node,
    Part,
    alike,
    contents,
    depends,
    fresh,
    insert,
    is_pure,
    is_tensor,
    redirect,
)
from tests.sensitivity.mutate.collective import reduced, world

if TYPE_CHECKING:
    from random import Random

aten = torch.ops.aten


def swap_draws(draft: Draft, random: Random) -> bool:
    """Scale a value by a draw of one kind, then by one of another; in current the draws change places."""
    found = draft.site(random, lambda _, node: is_tensor(node) and _scales(node))
    if found is None:
        return False
    part, node = found
    value = node.meta["val"]
    uniform = insert(part, node, aten.rand_like.default, (node,), fresh(value))
    normal = insert(part, uniform, aten.randn_like.default, (node,), fresh(value))
    once = insert(part, normal, aten.mul.Tensor, (node, uniform), fresh(value))
    twice = insert(part, once, aten.add.Tensor, (once, normal), fresh(value))
    redirect(node, twice)
    draft.compare_with_this()
    normal.append(uniform)
    return True


def _scales(node: Node) -> bool:
    readers = [user for user in node.users if user.op == "output" or is_pure(user)]
    return bool(readers) and len(readers) == len(node.users) and node.meta["val"].is_floating_point()


def swap_collectives(draft: Draft, random: Random) -> bool:
    """Reduce two values that do not depend on each other; in current the other one first."""
    if not world():
        return False
    choices = [
        (part, a, b)
        for part in draft.parts
        for place, b in enumerate(part.nodes)
        for a in part.nodes[:place]
        if is_tensor(a) and is_tensor(b) and _scales(a) and _scales(b)
        if not depends(b, a) and contents(part)[a] != contents(part)[b]
    ]
    if not choices:
        return False
    part, a, b = random.choice(choices)
    if b.op == "placeholder":
        b, a = a, b  # behind all placeholders, the last one inserted comes first
    first, second = reduced(part, a), reduced(part, b)
    order = part.nodes
    early, late = sorted((first, second), key=order.index)
    if any(user in order[: order.index(late)] and not _is_wait(user) for user in early.users):
        return False
    draft.compare_with_this()
    wait = next(iter(early.users))
    if any(order.index(user) < order.index(late) for user in wait.users):
        return False
    late.append(early)
    early.append(wait)
    return True


def _is_wait(node: Node) -> bool:
    return str(node.target).startswith("_c10d_functional.wait_tensor")


def _inputs(draft: Draft, random: Random) -> tuple[Part, Node] | None:
    def wanted(_: Part, node: Node) -> bool:
        return node.op == "placeholder" and is_tensor(node) and node.meta["val"].is_floating_point()

    return draft.site(random, wanted)


def swap_writes(draft: Draft, random: Random) -> bool:
    """Write one input twice; in current the other way round."""
    found = _inputs(draft, random)
    if found is None:
        return False
    part, node = found
    value = node.meta["val"]
    first = insert(part, part.nodes[-2], aten.mul_.Tensor, (node, 0.5), fresh(value))
    second = insert(part, first, aten.add_.Tensor, (node, 1.0), fresh(value))
    draft.compare_with_this()
    second.append(first)
    return True


def read_after_write(draft: Draft, random: Random) -> bool:
    """Read an input and write it; in current the read comes behind the write."""
    found = _inputs(draft, random)
    if found is None:
        return False
    part, node = found
    value: Any = node.meta["val"]
    read = insert(part, part.nodes[-2], aten.exp.default, (node,), fresh(value))
    write = insert(part, read, aten.mul_.Tensor, (node, 0.5), fresh(value))
    last = insert(part, write, aten.copy_.default, (node, read), fresh(value))
    draft.compare_with_this()
    write.append(read)
    return alike(read, last)

"""Mutators: what torch says of a value, and of all that follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tests.sensitivity.draft import Draft, Node, Part, fresh, insert, is_pure, is_tensor, propagate, redirect, set_value

if TYPE_CHECKING:
    from random import Random


def _computed(_: Part, node: Node) -> bool:
    return is_pure(node) and is_tensor(node)


def change_dtype(draft: Draft, random: Random) -> bool:
    found = draft.site(random, _computed)
    if found is None:
        return False
    part, node = found
    dtypes = [torch.float16, torch.float32, torch.float64, torch.bfloat16]
    dtype = random.choice([dtype for dtype in dtypes if dtype != node.meta["val"].dtype])
    set_value(node, fresh(node.meta["val"], dtype=dtype))
    propagate(part, node)
    return True


def change_shape(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda part, node: _computed(part, node) and node.meta["val"].dim() > 0)
    if found is None:
        return False
    _, node = found
    shape = list(node.meta["val"].shape)
    place = random.randrange(len(shape))
    shape[place] = shape[place] + random.randint(1, 3)
    set_value(node, fresh(node.meta["val"], shape=tuple(shape)))
    return True


def change_stride(draft: Draft, random: Random) -> bool:
    def wanted(part: Part, node: Node) -> bool:
        return _computed(part, node) and node.meta["val"].dim() > 1 and all(_several(s) for s in node.meta["val"].shape)

    found = draft.site(random, wanted)
    if found is None:
        return False
    _, node = found
    value = node.meta["val"]
    stride = list(value.stride())
    if random.random() < 0.5:  # padded rows; else the other order
        stride = [step * 2 for step in stride]
    else:
        stride = stride[::-1] if stride != stride[::-1] else [step * 3 for step in stride]
    set_value(node, fresh(value, stride=tuple(stride)))
    return True


def _several(size: Any) -> bool:
    return not isinstance(size, int) or size > 1


def change_device(draft: Draft, random: Random) -> bool:
    """Copy a value on both sides, in current to another device: no other kind of operator moves one."""
    found = draft.site(random, lambda _, node: is_tensor(node) and any(is_pure(user) for user in node.users))
    if found is None:
        return False
    part, node = found
    copy = insert(part, node, torch.ops.aten._to_copy.default, (node,), fresh(node.meta["val"]))
    redirect(node, copy)
    draft.compare_with_this()
    device = torch.device("cuda", 0)
    copy.kwargs = {"device": device}
    set_value(copy, fresh(copy.meta["val"], device=device))
    propagate(part, copy)
    return True


def change_input_dtype(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: node.op == "placeholder" and is_tensor(node))
    if found is None:
        return False
    _, node = found
    dtypes = [torch.float16, torch.float64, torch.int32]
    set_value(node, fresh(node.meta["val"], dtype=random.choice([d for d in dtypes if d != node.meta["val"].dtype])))
    return True

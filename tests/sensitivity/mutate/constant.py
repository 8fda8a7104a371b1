"""Mutators: numbers among the arguments, and bytes of tensors that the graph carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tests.sensitivity.draft import Draft, Node, Part, fresh, insert, is_pure, is_tensor, redirect

if TYPE_CHECKING:
    from random import Random

aten = torch.ops.aten
# where a number is a value that is computed with; elsewhere it is a size, a dimension or an index, and types follow it
VALUES = {
    aten.mul.Tensor: (1,),
    aten.add.Tensor: (1,),
    aten.sub.Tensor: (1,),
    aten._foreach_mul.Scalar: (1,),
    aten._native_batch_norm_legit_functional.default: (6, 7),
    aten.native_batch_norm_backward.default: (8,),
    aten.fill_.Scalar: (1,),
}
NAME = "_planted_constant"


def _numbers(draft: Draft, *kinds: type) -> list[tuple[Node, Any]]:
    """Find the numbers that are values: by place among the arguments, or by name."""
    found: list[tuple[Node, Any]] = []
    for part in draft.parts:
        for node in part.calls():
            places = VALUES.get(node.target, ()) if is_pure(node) or node.target in VALUES else ()
            found += [(node, place) for place in places if place < len(node.args) and type(node.args[place]) in kinds]
            found += [(node, key) for key, value in node.kwargs.items() if key == "alpha" and type(value) in kinds]
    return found


def _give(node: Node, where: Any, value: Any) -> None:
    if isinstance(where, str):
        node.kwargs = {**node.kwargs, where: value}
    else:
        node.args = (*node.args[:where], value, *node.args[where + 1 :])


def _given(node: Node, where: Any) -> Any:
    return node.kwargs[where] if isinstance(where, str) else node.args[where]


def change_scalar(draft: Draft, random: Random) -> bool:
    found = _numbers(draft, int, float)
    if not found:
        return _scaled(draft, random, 0.5, 0.25)
    node, where = random.choice(found)
    _give(node, where, random.choice([_given(node, where) + 1, -_given(node, where) - 2]))
    return True


def retype_scalar(draft: Draft, random: Random) -> bool:
    found = _numbers(draft, int)
    if not found:
        return _scaled(draft, random, 2, 2.0)
    node, where = random.choice(found)
    _give(node, where, float(_given(node, where)))
    return True


def _scaled(draft: Draft, random: Random, before: float, after: float) -> bool:
    """Multiply some value by a number on both sides, by another one in current."""
    found = _floating(draft, random)
    if found is None:
        return False
    part, node = found
    scaled = insert(part, node, aten.mul.Tensor, (node, before), fresh(node.meta["val"]))
    redirect(node, scaled)
    draft.compare_with_this()
    scaled.args = (node, after)
    return True


def _floating(draft: Draft, random: Random) -> tuple[Part, Node] | None:
    def wanted(_: Part, node: Node) -> bool:
        return (
            is_tensor(node)
            and node.meta["val"].is_floating_point()
            and any(is_pure(user) or user.op == "output" for user in node.users)
        )

    return draft.site(random, wanted)


def _carried(draft: Draft, random: Random, before: torch.Tensor, after: torch.Tensor) -> bool:
    """Multiply some value by the sum of a tensor constant on both sides, by another constant in current."""
    found = _floating(draft, random)
    if found is None:
        return False
    part, node = found
    setattr(part.module, NAME, before)
    first = part.placeholders[-1] if part.placeholders else part.nodes[0]
    with part.module.graph.inserting_after(first):
        constant = part.module.graph.get_attr(NAME)
    behind = node if node.op == "call_function" else constant
    total = insert(part, behind, aten.sum.default, (constant,), fresh(node.meta["val"], shape=()))
    scaled = insert(part, total, aten.mul.Tensor, (node, total), fresh(node.meta["val"]))
    redirect(node, scaled)
    draft.compare_with_this()
    # the draft's own module: the copy that it is compared with keeps the one before
    setattr(part.module, NAME, after)
    return True


def _changed(tensor: torch.Tensor, random: Random) -> torch.Tensor:
    other = tensor.clone()
    other.view(-1)[random.randrange(other.numel())] += 0.5
    return other


def change_inline_bytes(draft: Draft, random: Random) -> bool:
    tensor = torch.arange(float(random.randint(2, 60)))
    return _carried(draft, random, tensor, _changed(tensor, random))


def change_digest_bytes(draft: Draft, random: Random) -> bool:
    tensor = torch.arange(float(random.randint(65, 300)))
    return _carried(draft, random, tensor, _changed(tensor, random))


def change_constant_stride(draft: Draft, random: Random) -> bool:
    tensor = torch.arange(float(random.randint(2, 8) * 12)).reshape(-1, 12)
    return _carried(draft, random, tensor, tensor.t().contiguous().t())

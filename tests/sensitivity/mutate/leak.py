"""Mutators: what a nested trace leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tests.sensitivity.draft import Draft, Node, Part, fresh, insert, is_pure, is_tensor, tag_like

if TYPE_CHECKING:
    from random import Random

aten = torch.ops.aten
NAME = "_planted_proxy"


def _detached(part: Part, node: Node, times: int) -> Node:
    for _ in range(times):
        detach = insert(part, node, aten.detach.default, (node,), fresh(node.meta["val"]))
        tag_like(detach, node)
        node = detach
    return node


def leak_detaches(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: is_tensor(node))
    if found is None:
        return False
    _detached(found[0], found[1], random.randint(2, 4))
    return True


def _copied(part: Part, node: Node, operands: dict[Node, Node], behind: Node) -> Node:
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda other: operands.get(other, other))
    copy = insert(part, behind, node.target, args, fresh(node.meta["val"]))
    copy.kwargs = kwargs
    tag_like(copy, node)
    return copy


def leak_traced_program(draft: Draft, random: Random) -> bool:
    """As the report shows it: operands detached twice, the operator a second time, its result detached."""

    def wanted(_: Part, node: Node) -> bool:
        return (
            is_pure(node)
            and is_tensor(node)
            and bool(node.all_input_nodes)
            and all(map(is_tensor, node.all_input_nodes))
        )

    found = draft.site(random, wanted)
    if found is None:
        return False
    part, node = found
    operands = {operand: _detached(part, operand, 2) for operand in node.all_input_nodes}
    again = _copied(part, node, operands, max(operands.values(), key=part.nodes.index))
    _detached(part, again, 1)
    return True


def leak_computation(draft: Draft, random: Random) -> bool:
    """A node and what reads it are computed a second time."""

    def wanted(_: Part, node: Node) -> bool:
        return is_pure(node) and is_tensor(node) and any(map(is_tensor, node.all_input_nodes))

    found = draft.site(random, wanted)
    if found is None:
        return False
    part, node = found
    again = _copied(part, node, {}, node)
    follower = next((user for user in node.users if is_pure(user) and is_tensor(user)), None)
    if follower is not None and random.random() < 0.5:
        _copied(part, follower, {node: again}, follower)
    return True


def lift_proxy(draft: Draft, random: Random) -> bool:
    """An operand is a constant that holds a fake tensor: pytorch calls it ``_tensor_constant0``."""
    choices = [
        (part, node, operand)
        for part in draft.parts
        for node in part.calls()
        if is_pure(node)
        for operand in node.all_input_nodes
        if is_tensor(operand) and is_pure(operand)
    ]
    if not choices:
        return False
    part, node, operand = random.choice(choices)
    setattr(part.module, NAME, fresh(operand.meta["val"]))
    with part.module.graph.inserting_after(operand):
        lifted: Any = part.module.graph.get_attr(NAME)
    lifted.meta["val"] = operand.meta["val"]
    node.replace_input_with(operand, lifted)
    return True


def detach_on_the_way(draft: Draft, random: Random) -> bool:
    def wanted(_: Part, node: Node) -> bool:
        return is_tensor(node) and bool(node.users) and all(is_pure(user) or user.op == "output" for user in node.users)

    found = draft.site(random, wanted)
    if found is None:
        return False
    part, node = found
    users = list(node.users)
    last = _detached(part, node, 2)
    for user in users:
        user.replace_input_with(node, last)
    return True

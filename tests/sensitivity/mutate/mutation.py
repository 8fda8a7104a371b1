"""Mutators: writes to inputs, and which inputs share storage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from tests.sensitivity.draft import Draft, Node, Part, alike, contents, fresh, insert, is_pure, is_tensor

if TYPE_CHECKING:
    from random import Random

aten = torch.ops.aten
IN_PLACE = {
    aten.sin.default: aten.sin_.default,
    aten.cos.default: aten.cos_.default,
    aten.neg.default: aten.neg_.default,
    aten.mul.Tensor: aten.mul_.Tensor,
    aten.add.Tensor: aten.add_.Tensor,
}


def _copies(part: Part, node: Node) -> bool:
    return node.target is aten.copy_.default and node.args[0] in part.placeholders


def drop_write(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda part, node: _copies(part, node) and not node.users)
    if found is None:
        return False
    found[0].module.graph.erase_node(found[1])
    return True


def add_write(draft: Draft, random: Random) -> bool:
    choices = []
    for part in draft.parts:
        texts = contents(part)
        written = {node.args[0] for node in part.calls() if _copies(part, node)}
        choices += [
            (part, target, value)
            for target in part.placeholders
            for value in part.nodes
            if is_tensor(target)
            and is_tensor(value)
            and target not in written
            and alike(target, value)
            and texts[target] != texts[value]
        ]
    if not choices:
        return False
    part, target, value = random.choice(choices)
    insert(part, part.nodes[-2], aten.copy_.default, (target, value), fresh(target.meta["val"]))
    return True


def write_another(draft: Draft, random: Random) -> bool:
    choices = [
        (node, other)
        for part in draft.parts
        for node in part.calls()
        if _copies(part, node) and not node.users
        for other in part.placeholders
        if other is not node.args[0] and is_tensor(other) and alike(other, node.args[0])
    ]
    if not choices:
        return False
    node, other = random.choice(choices)
    node.args = (other, *node.args[1:])
    return True


def write_in_place(draft: Draft, random: Random) -> bool:
    def wanted(_: Part, node: Node) -> bool:
        target: Any = node.target
        return target in IN_PLACE and is_pure(node) and is_tensor(node.args[0]) and alike(node, node.args[0])

    found = draft.site(random, wanted)
    if found is None:
        return False
    target: Any = found[1].target
    found[1].target = IN_PLACE[target]
    return True


def alias_inputs(draft: Draft, random: Random) -> bool:
    choices = [
        (part, first, second)
        for part in draft.parts
        for second, what in enumerate(part.context.placeholders)
        for first, earlier in enumerate(part.context.placeholders[:second])
        if not what.dropped and not earlier.dropped and what.alias is None and earlier.alias is None
        if is_tensor(part.placeholders[first]) and is_tensor(part.placeholders[second])
    ]
    if not choices:
        return False
    part, first, second = random.choice(choices)
    known = list(part.context.placeholders)
    known[second] = replace(known[second], alias=known[first].name)
    part.context = replace(part.context, placeholders=tuple(known))
    return True

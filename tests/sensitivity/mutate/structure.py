"""Mutators: operators replaced, added, removed, rewired; modes and tags."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from tests.sensitivity.draft import (
    Draft,
    Node,
    Part,
    alike,
    bypass,
    contents,
    fresh,
    has_schema,
    insert,
    is_pure,
    is_tensor,
    redirect,
    tag_like,
)

if TYPE_CHECKING:
    from random import Random

aten = torch.ops.aten
# another operator that takes and gives the same
REPLACED = {
    aten.sin.default: aten.tan.default,
    aten.cos.default: aten.exp.default,
    aten.neg.default: aten.abs.default,
    aten.mul.Tensor: aten.div.Tensor,
    aten.add.Tensor: aten.sub.Tensor,
    aten.ones_like.default: aten.zeros_like.default,
    aten.sum.default: aten.mean.default,
    aten.sum.dim_IntList: aten.amax.default,
}


def swap_operands(draft: Draft, random: Random) -> bool:
    known = {part.module: contents(part) for part in draft.parts}

    def wanted(part: Part, node: Node) -> bool:
        texts = known[part.module]
        return (
            is_pure(node)
            and len(node.args) > 1
            and all(map(is_tensor, node.args[:2]))
            and alike(*node.args[:2])
            and texts[node.args[0]] != texts[node.args[1]]
        )

    found = draft.site(random, wanted)
    if found is None:
        return False
    _, node = found
    node.args = (node.args[1], node.args[0], *node.args[2:])
    return True


def replace_operator(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: node.target in REPLACED)
    return found is not None and _replace(found[1])


def _replace(node: Node) -> bool:
    target: Any = node.target
    node.target = REPLACED[target]
    if target is aten.sum.dim_IntList:
        node.args = node.args[:3]
    return True


def insert_clone(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: is_tensor(node) and _used(node) and node.op != "output")
    if found is None:
        return False
    part, node = found
    clone = insert(part, node, aten.clone.default, (node,), fresh(node.meta["val"]))
    tag_like(clone, node)
    redirect(node, clone)
    return True


def _used(node: Node) -> bool:
    """Tell whether a value is used, other than by being written: a clone in front of a write is another mutation."""
    return bool(node.users) and all(not has_schema(user) or is_pure(user) for user in node.users)


def remove_operator(draft: Draft, random: Random) -> bool:
    def wanted(_: Part, node: Node) -> bool:
        return (
            is_pure(node)
            and bool(node.users)
            and node.target not in {aten.detach.default, aten.alias.default}
            and is_tensor(node.args[0] if node.args else None)
            and is_tensor(node)
            and alike(node.args[0], node)
        )

    return bypass(draft.site(random, wanted))


def rewire_operand(draft: Draft, random: Random) -> bool:
    choices = []
    for part in draft.parts:
        texts = contents(part)
        before: list[Node] = []
        for node in part.nodes:
            if is_pure(node):
                choices += [
                    (node, place, other)
                    for place, arg in enumerate(node.args)
                    for other in before
                    if is_tensor(arg) and alike(arg, other) and texts[arg] != texts[other]
                ]
            if is_tensor(node):
                before.append(node)
    if not choices:
        return False
    node, place, other = random.choice(choices)
    node.args = (*node.args[:place], other, *node.args[place + 1 :])
    return True


def swap_outputs(draft: Draft, random: Random) -> bool:
    choices = []
    for part in draft.parts:
        outputs, texts = part.outputs, contents(part)
        choices += [
            (part, a, b)
            for b, second in enumerate(outputs)
            for a, first in enumerate(outputs[:b])
            if is_tensor(first) and is_tensor(second) and alike(first, second) and texts[first] != texts[second]
        ]
    if not choices:
        return False
    part, a, b = random.choice(choices)
    outputs = part.outputs
    outputs[a], outputs[b] = outputs[b], outputs[a]
    part.output.args = (type(part.output.args[0])(outputs),)
    return True


def replace_in_body(draft: Draft, random: Random) -> bool:
    def wanted(part: Part, node: Node) -> bool:
        return node.op == "get_attr" and isinstance(getattr(part.module, str(node.target), None), torch.fx.GraphModule)

    found = draft.site(random, wanted)
    if found is None:
        return False
    part, node = found
    body = Part(getattr(part.module, str(node.target)), replace(part.context, placeholders=(), returned=())).copy()
    nodes = [inner for inner in body.calls() if inner.target in REPLACED]
    if not nodes:
        return False
    _replace(random.choice(nodes))
    body.module.recompile()
    setattr(part.module, str(node.target), body.module)
    return True


def change_mode(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda part, node: is_tensor(node) and node is not part.calls()[-1])
    if found is None:
        return False
    part, node = found
    off = insert(part, node, torch._C._set_grad_enabled, (False,), None)
    behind = random.choice(part.nodes[part.nodes.index(off) : -1])
    insert(part, behind, torch._C._set_grad_enabled, (True,), None)
    return True


def tag_backward(draft: Draft, random: Random) -> bool:
    found = draft.site(random, lambda _, node: is_pure(node))
    if found is None:
        return False
    meta = dict(found[1].meta)
    if meta.get("partitioner_tag") == "is_backward":
        meta.pop("partitioner_tag")
    else:
        meta["partitioner_tag"] = "is_backward"
    found[1].meta = meta
    return True


def tag_recompute(draft: Draft, random: Random) -> bool:
    from torch.utils.checkpoint import CheckpointPolicy

    found = draft.site(random, lambda _, node: is_pure(node))
    if found is None:
        return False
    meta = dict(found[1].meta)
    policies = [CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.MUST_SAVE]
    meta["recompute"] = random.choice([policy for policy in policies if policy != meta.get("recompute")])
    found[1].meta = meta
    return True

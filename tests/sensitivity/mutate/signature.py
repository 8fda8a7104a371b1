"""Mutators: what the tracer knows of inputs and outputs, and which there are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from guard.ir.lower.context import Placeholder, Returned
from guard.ir.lower.subclasses import is_dtensor
from tests.sensitivity.draft import Draft, Part, fresh, is_tensor, set_value

if TYPE_CHECKING:
    from random import Random


def _sides(draft: Draft, side: str, wanted: Any) -> list[tuple[Part, int]]:
    """Find places of ``placeholders`` or ``returned`` that the graph has."""
    found = []
    for part in draft.parts:
        values: list[Any] = part.placeholders if side == "placeholders" else part.outputs
        known = getattr(part.context, side)
        found += [
            (part, place)
            for place, (what, value) in enumerate(zip(known, values, strict=False))
            if not what.dropped and is_tensor(value) and wanted(what)
        ]
    return found


def _change(part: Part, side: str, place: int, **changed: Any) -> bool:
    known = list(getattr(part.context, side))
    known[place] = replace(known[place], **changed)
    changes: dict[str, Any] = {side: tuple(known)}
    part.context = replace(part.context, **changes)
    return True


def _any(_: Any) -> bool:
    return True


def _placed(value: Any, random: Random) -> Any:
    """Give the same local tensor other placements: all in one dimension of the mesh."""
    from torch.distributed.tensor import Partial, Replicate, Shard

    place = random.randrange(len(value.placements))
    choices = [Replicate(), Partial(), *map(Shard, range(value.dim()))]
    chosen = random.choice([one for one in choices if one != value.placements[place]])
    placements = (*value.placements[:place], chosen, *value.placements[place + 1 :])
    return _dtensor(value, placements=placements)


def _dtensor(value: Any, **changed: Any) -> Any:
    """Make a DTensor that differs; only its type reaches the graph, so its local tensor may hold anything."""
    from torch.distributed.tensor import DTensor

    local = value._local_tensor  # of AOTAutograd's own class, outside of its mode, where it is an output's
    made = DTensor.from_local(
        torch.empty(tuple(local.shape), dtype=local.dtype),
        changed.get("mesh", value.device_mesh),
        changed.get("placements", value.placements),
        run_check=False,
        shape=torch.Size(changed.get("shape", value.shape)),
        stride=changed.get("stride", value.stride()),
    )
    return made.requires_grad_(changed.get("requires_grad", value.requires_grad))


def _outer(draft: Draft, random: Random, side: str, make: Any) -> bool:
    found = _sides(draft, side, lambda what: what.outer is not None and is_dtensor(what.outer))
    if not found:
        return False
    part, place = random.choice(found)
    return _change(part, side, place, outer=make(getattr(part.context, side)[place].outer))


def place_input(draft: Draft, random: Random) -> bool:
    return _outer(draft, random, "placeholders", lambda value: _placed(value, random))


def place_output(draft: Draft, random: Random) -> bool:
    return _outer(draft, random, "returned", lambda value: _placed(value, random))


def change_mesh(draft: Draft, random: Random) -> bool:
    from torch.distributed.device_mesh import DeviceMesh

    def reversed_mesh(value: Any) -> Any:
        ranks = value.device_mesh.mesh.flatten().flip(0).reshape(value.device_mesh.mesh.shape)
        return _dtensor(value, mesh=DeviceMesh("cpu", ranks, _init_backend=False))

    return _outer(draft, random, "placeholders", reversed_mesh)


def change_global_shape(draft: Draft, random: Random) -> bool:
    def uneven(value: Any) -> Any:
        shape = tuple(size + 1 if not place else size for place, size in enumerate(value.shape))
        return _dtensor(value, shape=shape)

    def sized(what: Any) -> bool:
        return what.outer is not None and is_dtensor(what.outer) and what.outer.dim() > 0

    found = _sides(draft, "placeholders", sized)
    if not found:
        return False
    part, place = random.choice(found)
    return _change(part, "placeholders", place, outer=uneven(part.context.placeholders[place].outer))


def _require_grad(draft: Draft, random: Random, side: str) -> bool:
    found = _sides(draft, side, _any)
    if not found:
        return False
    part, place = random.choice(found)
    what = getattr(part.context, side)[place]
    if what.outer is None:
        return _change(part, side, place, requires_grad=not what.requires_grad)
    if not what.outer.is_floating_point():
        return False
    return _change(part, side, place, outer=_dtensor(what.outer, requires_grad=not what.outer.requires_grad))


def require_grad_of_input(draft: Draft, random: Random) -> bool:
    return _require_grad(draft, random, "placeholders")


def require_grad_of_output(draft: Draft, random: Random) -> bool:
    return _require_grad(draft, random, "returned")


ROLES = {"parameter": "buffer", "buffer": "parameter", "input": "parameter", "tangent": "input", "saved": "input"}


def change_input_role(draft: Draft, random: Random) -> bool:
    found = _sides(draft, "placeholders", lambda what: what.role in ROLES)
    if not found:
        return False
    part, place = random.choice(found)
    return _change(part, "placeholders", place, role=ROLES[part.context.placeholders[place].role])


def change_gradient_of(draft: Draft, random: Random) -> bool:
    found = _sides(draft, "returned", lambda what: what.role == "grad")
    if not found:
        return False
    part, place = random.choice(found)
    # a backward's gradients are of the forward's inputs
    names = [
        what.name for other in draft.parts for what in other.context.placeholders if what.role in {"input", "parameter"}
    ]
    others = sorted(set(names) - {part.context.returned[place].of})
    return bool(others) and _change(part, "returned", place, of=random.choice(others))


def _tree(draft: Draft, random: Random, side: str) -> bool:
    part = random.choice(draft.parts)
    known = getattr(part.context, side)
    changes: dict[str, Any] = {side: f"[{known}]" if known is not None else '{"wrapped": *}'}
    part.context = replace(part.context, **changes)
    return True


def change_in_tree(draft: Draft, random: Random) -> bool:
    return _tree(draft, random, "in_tree")


def change_out_tree(draft: Draft, random: Random) -> bool:
    return _tree(draft, random, "out_tree")


def add_input(draft: Draft, random: Random) -> bool:
    choices = [part for part in draft.parts if part.placeholders and is_tensor(part.placeholders[-1])]
    if not choices:
        return False
    part = random.choice(choices)
    last = part.placeholders[-1]
    with part.module.graph.inserting_after(last):
        node = part.module.graph.placeholder("planted_input")
    set_value(node, fresh(last.meta["val"]))
    known = part.context.placeholders
    if len(known) == len(part.placeholders) - 1:
        part.context = replace(part.context, placeholders=(*known, Placeholder("planted_input")))
    return True


def add_output(draft: Draft, random: Random) -> bool:
    choices = [(part, node) for part in draft.parts for node in part.nodes if is_tensor(node) and node.users]
    if not choices:
        return False
    part, node = random.choice(choices)
    return _return(part, [*part.outputs, node], (*_returned(part), Returned()))


def drop_output(draft: Draft, random: Random) -> bool:
    choices = [part for part in draft.parts if is_tensor(next(iter(part.outputs[::-1]), None))]
    if not choices:
        return False
    part = random.choice(choices)
    return _return(part, part.outputs[:-1], _returned(part)[:-1])


def _returned(part: Part) -> tuple[Returned, ...]:
    known = part.context.returned
    return (*known, *(Returned() for _ in range(len(part.outputs) - len(known))))[: len(part.outputs)]


def _return(part: Part, outputs: list[Any], returned: tuple[Returned, ...]) -> bool:
    part.output.args = (tuple(outputs),)
    part.context = replace(part.context, returned=returned)
    return True

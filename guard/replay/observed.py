"""All that one run of a program shows: outputs, what it wrote, gradients, aliases, settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch.utils import _pytree as pytree

from guard.replay.noted import Noted, note, storage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from guard.replay.named import Named


@dataclass(frozen=True)
class Observed:
    """One run. What a side cannot show is None, and then not compared."""

    outputs: tuple[Noted, ...]
    tree: str | None = None
    """Pytree of the outputs."""
    aliases: tuple[str, ...] | None = None
    """For each output, what it shares storage with: an input, or an earlier output; "" for nothing."""
    forward: Mapping[str, Noted] | None = None
    """Inputs, parameters and buffers after forward, by name."""
    gradients: tuple[Mapping[str, Noted | None], ...] = ()
    """By order, then by name; None where the outputs do not depend on it."""
    backward: Mapping[str, Noted] | None = None
    """As ``forward``, after backward; None where there was none."""
    outputs_after: tuple[Noted, ...] | None = None
    """The outputs again, after backward."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Process-wide ones, after forward."""


def state_now(named: Sequence[Named]) -> dict[str, Noted]:
    """Copy what the names stand for now."""
    return {name: note(tensor) for name, tensor in named}


def outputs_of(result: Any) -> tuple[list[Any], str]:
    """Leaves of what a program returned, and its pytree as text."""
    leaves, spec = pytree.tree_flatten(result)
    return leaves, str(spec)


def aliases_of(leaves: Sequence[Any], named: Sequence[Named]) -> tuple[str, ...]:
    """Say for each output what shares its storage."""
    first: dict[int, str] = {}
    for name, tensor in named:
        _add(first, tensor, name)
    found = []
    for index, leaf in enumerate(leaves):
        key = storage_of(leaf)
        found.append("" if key is None else first.get(key, ""))
        _add(first, leaf, f"output {index}")
    return tuple(found)


def _add(first: dict[int, str], tensor: Any, name: str) -> None:
    key = storage_of(tensor)
    if key is not None:
        first.setdefault(key, name)

"""Dynamo's sources of a graph's inputs -> the user's names: ``L['batch']['x']`` is ``batch.x``, a parameter its path."""

from __future__ import annotations

import re
from typing import Any

from guard.ir.lower.context import Placeholder

_PART = re.compile(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[(\d+)\]|\.([A-Za-z_]\w*)")
_STATE = {"_parameters": "parameter", "_buffers": "buffer"}
# How Dynamo spells the way to a module's parts; none of it is part of a qualified name.
_NOISE = {"_modules", "_parameters", "_buffers", "__dict__", "__closure__", "cell_contents", "__func__", "__self__"}


def source_name(placeholder: Any) -> str:
    """Text of the source of a Dynamo graph's placeholder; "" where it has none."""
    argument = placeholder.meta.get("grapharg")
    name = getattr(getattr(argument, "source", None), "name", "")
    return str(name() if callable(name) else name)  # a method up to torch 2.9


def input_of(source: str, fallback: str) -> Placeholder:
    """The user's input at a source."""
    role = next((role for word, role in _STATE.items() if word in source), "input")
    parts = [next(p for p in match if p) for match in _PART.findall(source) if any(match)]
    named = [part for part in parts if part not in _NOISE]
    if role != "input" or source.startswith("L['self']"):
        named = named[1:] if source.startswith(("L[", "G[")) and len(named) > 1 else named
    return Placeholder(".".join(named) or fallback, role)

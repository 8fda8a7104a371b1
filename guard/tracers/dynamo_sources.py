"""Dynamo's sources of a graph's inputs -> the user's names: ``L['batch']['x']`` is ``batch.x``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from guard.ir.lower.context import Placeholder

if TYPE_CHECKING:
    from collections.abc import Sequence

_PART = re.compile(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[(\d+)\]|\.([A-Za-z_]\w*)")
_STATE = {"_parameters": "parameter", "_buffers": "buffer"}
# How Dynamo spells the way to a module's parts; none of it is part of a qualified name.
_NOISE = {"_modules", "_parameters", "_buffers", "__dict__", "__closure__", "cell_contents", "__func__", "__self__"}


def source_name(placeholder: Any) -> str:
    """Text of the source of a Dynamo graph's placeholder; "" where it has none."""
    argument = placeholder.meta.get("grapharg")
    name = getattr(getattr(argument, "source", None), "name", "")
    return str(name() if callable(name) else name)  # a method up to torch 2.9


def input_of(source: str, fallback: str, positional: Sequence[str] = ()) -> Placeholder:
    """The user's input at a source; ``positional`` are the parameter names that ``L['args'][0]`` stands for."""
    role = next((role for word, role in _STATE.items() if word in source), "input")
    parts = [next(p for p in match if p) for match in _PART.findall(source) if any(match)]
    named = [part for part in parts if part not in _NOISE]
    if role != "input" and source.startswith(("L[", "G[")) and len(named) > 1:
        named = named[1:]  # the local or global that holds the module
    elif named[:1] == ["args"] and len(named) > 1 and named[1].isdigit() and int(named[1]) < len(positional):
        named = [positional[int(named[1])], *named[2:]]  # Dynamo compiles a module's __call__(*args)
    return Placeholder(".".join(named) or fallback, role)

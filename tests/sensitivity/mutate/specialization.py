"""Mutators: symbols that become numbers or one another, what is assumed of them, and torch.compile's events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._sympy.value_ranges import ValueRanges

from guard.ir.graph import Event
from tests.sensitivity.draft import Draft, Node, Part, set_value

if TYPE_CHECKING:
    from random import Random


def _symbols(part: Part) -> list[Any]:
    """Symbols of the graph's inputs, in order."""
    found: dict[Any, None] = {}
    for node in part.placeholders:
        value = node.meta.get("val")
        for size in value.shape if isinstance(value, FakeTensor) else (value,):
            if isinstance(size, torch.SymInt):
                found.update(dict.fromkeys(sorted(size.node._expr.free_symbols, key=str)))
    return list(found)


def _symbolic(draft: Draft, most: int = 1) -> list[Part]:
    return [part for part in draft.parts if len(_symbols(part)) >= most and part.context.shape_env is not None]


def fix_symbol(draft: Draft, random: Random) -> bool:
    parts = _symbolic(draft)
    if not parts:
        return False
    part = random.choice(parts)
    symbol = random.choice(_symbols(part))
    return _substitute(part, symbol, sympy.Integer(random.choice([3, 4, 5, 16])))


def merge_symbols(draft: Draft, random: Random) -> bool:
    parts = _symbolic(draft, 2)
    if not parts:
        return False
    part = random.choice(parts)
    kept, gone = random.sample(_symbols(part), 2)
    return _substitute(part, gone, kept)


def _substitute(part: Part, symbol: Any, by: Any) -> bool:
    """Say of every value what it would be if a symbol were something else; sizes that are numbers are no nodes."""
    env = part.context.shape_env

    def size(old: Any) -> Any:
        if not isinstance(old, torch.SymInt):
            return old
        expr = old.node._expr.xreplace({symbol: by})
        return int(expr) if expr.is_number else env.create_symintnode(expr, hint=None)

    with env.suppress_guards():
        for node in part.nodes:
            value = node.meta.get("val")
            if isinstance(value, FakeTensor):
                _resize(node, value, size)
            elif isinstance(value, torch.SymInt):
                _renumber(part, node, size(value))
    return True


def _resize(node: Node, value: Any, size: Any) -> None:
    shape, stride = tuple(map(size, value.shape)), tuple(map(size, value.stride()))
    with value.fake_mode:
        set_value(node, torch.empty_strided(shape, stride, dtype=value.dtype, device=value.device))


def _renumber(part: Part, node: Node, value: Any) -> None:
    set_value(node, value)
    if isinstance(value, int) and node.op == "call_function":
        for user in list(node.users):
            user.args, user.kwargs = torch.fx.node.map_arg(
                (user.args, user.kwargs), lambda other: value if other is node else other
            )
        part.module.graph.erase_node(node)


class _Guard(NamedTuple):
    """As ShapeEnv keeps them: guards have an expression."""

    expr: Any


class _Env:
    """A ShapeEnv that assumes more."""

    def __init__(self, env: Any, **changed: Any) -> None:
        self._env = env
        vars(self).update(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


def add_constraint(draft: Draft, random: Random) -> bool:
    parts = _symbolic(draft)
    if not parts:
        return False
    part = random.choice(parts)
    env, symbol = part.context.shape_env, random.choice(_symbols(part))
    expr = sympy.Eq(sympy.Mod(symbol, random.choice([2, 4, 8])), 0, evaluate=False)
    part.context = replace(part.context, shape_env=_Env(env, guards=[*env.guards, _Guard(expr)]))
    return True


def narrow_range(draft: Draft, random: Random) -> bool:
    parts = _symbolic(draft)
    if not parts:
        return False
    part = random.choice(parts)
    env, symbol = part.context.shape_env, random.choice(_symbols(part))
    ranges = {**env.var_to_range, symbol: ValueRanges(2, random.choice([64, 128, 1024]))}
    part.context = replace(part.context, shape_env=_Env(env, var_to_range=ranges))
    return True


def _event(draft: Draft, kind: str, reason: str) -> bool:
    if not draft.tracer.startswith("compile"):
        return False
    draft.events.append(Event(kind, reason, "print(x)"))
    return True


def break_graph(draft: Draft, random: Random) -> bool:
    return _event(draft, "break", random.choice(["call to builtin print", "data-dependent branching"]))


def recompile(draft: Draft, random: Random) -> bool:
    return _event(draft, "recompile", random.choice(["size mismatch", "an object changed"]))

"""What an operator does besides computing: its effects, read once from its schema and kept by target."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import torch

from guard.ir.lower.silent import Argument, is_ordered, shares_silently, training_flag, writes_silently

# Functions without a schema that compute and do nothing else.
_PURE_MODULES = {"_operator": "operator", "operator": "operator", "math": "math"}
# Higher-order operators whose effects are those of their bodies; by torch's contract they are functional
# (torch/_higher_order_ops): with_effects and auto_functionalized carry their state as values.
_PURE_HOPS = {
    "cond", "while_loop", "scan", "associative_scan", "map_impl", "map", "flex_attention", "flex_attention_backward",
    "invoke_subgraph", "wrap", "checkpoint", "tag_activation_checkpoint", "wrap_activation_checkpoint",
    "auto_functionalized", "auto_functionalized_v2", "with_effects", "triton_kernel_wrapper_functional",
    "hints_wrapper", "out_dtype", "autograd_function_apply", "base_hop", "local_map_hop", "flat_apply", "strict_mode",
}  # fmt: skip
_MODE_WORDS = (
    "_set_grad_enabled",
    "autocast",
    "inference_mode",
    "_increment_nesting",
    "_decrement_nesting",
    "set_deterministic",
)
# Schema-bearing collectives: waiting for one is ordered by its operand alone.
_COMM_NAMESPACES = {"_c10d_functional", "c10d_functional", "_c10d_functional_autograd", "c10d", "_dtensor", "symm_mem"}
_WAITS = {"wait_tensor", "_wrap_tensor_autograd"}
_GROUP_ARGUMENTS = {"group_name", "group", "process_group", "group_name_0"}


MESSAGES = {"_assert_scalar", "_assert_async"}
"""Operators whose message torch may have written, with the names of nodes and symbols in it."""


class Operator(NamedTuple):
    """One call target."""

    name: str
    writes: tuple[Argument, ...] = ()
    aliases: tuple[Argument, ...] = ()
    groups: tuple[Argument, ...] = ()
    random: bool = False
    comm: bool = False
    mode: bool = False
    barrier: bool = False
    bodies: bool = False
    """A higher-order operator, whose effects are those of its bodies."""
    counted: bool = False
    """Among its arguments are names that count what this process has made: process groups, subgraphs, symbols."""
    plain: bool = True
    """No effect at all: the common case, told by one flag."""
    returns: int | None = None
    """Number of results in the schema; None without one."""
    single: bool = False
    """One tensor or number, by the schema: the common case, told by one flag."""
    views: bool = False
    """Its results may have a storage offset."""
    looks: bool = True
    """Its results may be views or on another device than its operands: shape and dtype do not tell their type."""
    training: Argument | None = None
    """The flag without which the operator writes nothing: batch norm's."""
    view: bool = False
    """A plain view of its first argument and nothing else: told by one flag too."""


def describe(target: Any) -> Operator:
    """Describe a call_function target."""
    if isinstance(target, torch._ops.OpOverload):
        return _from_schema(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        name = target.name() if callable(getattr(target, "name", None)) else str(target)
        pure = name in _PURE_HOPS
        counted = name == "invoke_subgraph"
        return Operator(f"higher_order.{name}", barrier=not pure, bodies=True, plain=False, counted=counted)
    return _from_function(target)


def _from_schema(op: Any) -> Operator:
    schema = op._schema
    returned = {alias for r in schema.returns if r.alias_info is not None for alias in r.alias_info.before_set}
    writes, aliases, groups = [], [], []
    for index, argument in enumerate(schema.arguments):
        place = Argument(index, argument.name)
        if argument.alias_info is not None:
            if argument.alias_info.is_write:
                writes.append(place)
            # (a -> *) is a view whose list of results carries no alias set of its own: split, unbind, chunk
            if returned & set(argument.alias_info.before_set) or "*" in argument.alias_info.after_set:
                aliases.append(place)
        elif writes_silently(op, place):
            writes.append(place)
            if shares_silently(op):
                aliases.append(place)
        elif op._opname == "set_" and argument.name == "source":
            aliases.append(place)  # from then on its first argument shares this one's storage
        if argument.name in _GROUP_ARGUMENTS:
            groups.append(place)
    random = torch.Tag.nondeterministic_seeded in op.tags
    comm = op.namespace in _COMM_NAMESPACES and op._opname not in _WAITS
    barrier = op.namespace == "profiler" or is_ordered(op)
    return Operator(
        str(op), tuple(writes), tuple(aliases), tuple(groups), random, comm, barrier=barrier,
        counted=bool(groups) or op._opname in MESSAGES,
        plain=not (writes or aliases or random or comm or barrier), returns=len(schema.returns),
        single=len(schema.returns) == 1 and not str(schema.returns[0].type).startswith("List"), views=bool(aliases),
        looks=_may_move(op) or bool(aliases), training=training_flag(op) if writes else None,
        view=[argument.place for argument in aliases] == [0] and not (writes or random or comm or barrier),
    )  # fmt: skip


def _may_move(op: Any) -> bool:
    """Whether results may leave their operands' device: outside ATen, or with a device among the arguments."""
    if op.namespace not in {"aten", "prims"}:
        return True
    schema = op._schema
    tensors = any("Tensor" in str(argument.type) for argument in schema.arguments)
    return not tensors or any(a.name == "device" or "Device" in str(a.type) for a in schema.arguments)


def _from_function(target: Any) -> Operator:
    module = getattr(target, "__module__", None) or ""
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or type(target).__name__
    if module in _PURE_MODULES and (hasattr(operator, name) or hasattr(math, name)):
        if target is operator.getitem:  # an item of a list that aliases, or a view of a tensor that is traced by name
            return Operator("operator.getitem", aliases=(Argument(0, "a"),), plain=False, view=True)
        return Operator(f"{_PURE_MODULES[module]}.{name}")
    if name.startswith("sym_") and module.startswith("torch"):
        return Operator(f"torch.{name}")
    full = f"{module}.{name}" if module else name
    full = full.replace("<locals>.", "").replace("_VariableFunctionsClass.", "").replace("<lambda>", "lambda")
    mode = any(word in name for word in _MODE_WORDS)
    mesh = ".device_mesh." in full
    return Operator(full, mode=mode, barrier=not mode, plain=False, counted=mesh)

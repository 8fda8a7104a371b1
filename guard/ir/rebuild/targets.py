"""Call targets by name: dispatcher operators of known namespaces and closed sets of functions. Imports nothing."""

from __future__ import annotations

import keyword
import math
import operator
from typing import Any

import torch
from torch.amp import autocast_mode

from guard.ir.lower.operators import describe
from guard.ir.rebuild.refusal import RefusedError

NAMESPACES = frozenset(("aten", "prims", "rngprims", "quantized_decomposed", "mkldnn", "onednn"))
"""torch's own, without collectives and without those that only TorchScript's interpreter runs (``prim``)."""

# operator.call, methodcaller, attrgetter and itemgetter would reach any attribute of an argument
_OPERATOR = (
    "abs", "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "index", "invert", "is_", "is_not", "le", "lshift",
    "lt", "matmul", "mod", "mul", "ne", "neg", "not_", "or_", "pos", "pow", "rshift", "sub", "truediv", "truth", "xor",
    "iadd", "iand", "ifloordiv", "imod", "imul", "ior", "ipow", "isub", "itruediv", "ixor",
)  # fmt: skip
_MATH = (
    "acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "exp", "fabs", "floor", "fmod", "isfinite",
    "isinf", "isnan", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_SYM = ("sym_float", "sym_fresh_size", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum")
_MODES = (torch._C._set_grad_enabled, autocast_mode._enter_autocast, autocast_mode._exit_autocast)
HIGHER_ORDER = ("cond", "map_impl", "while_loop", "scan", "associative_scan")
"""Those that run their bodies on real tensors, and whose arguments are values and bodies alone."""


def _functions() -> dict[str, Any]:
    """By the name that lowering gives them."""
    found: list[Any] = [getattr(operator, name) for name in _OPERATOR]
    found += [getattr(math, name) for name in _MATH]
    found += [getattr(torch, name) for name in _SYM if hasattr(torch, name)]
    return {describe(function).name: function for function in (*found, *_MODES)}


_FUNCTIONS = _functions()


def resolve(name: str, namespaces: frozenset[str] = NAMESPACES) -> Any:
    """Return what a target names.

    Args:
        name: as the text has it: ``aten.add.Tensor``, ``higher_order.cond``, ``operator.mul``.
        namespaces: of operators: torch's, and those that current's capture contains.

    Raises:
        RefusedError: it is none of the closed sets.
    """
    known = _FUNCTIONS.get(name)
    if known is not None:
        return known
    namespace, _, rest = name.partition(".")
    if namespace == "higher_order":
        return _higher_order(rest)
    if namespace not in namespaces:
        wanted = "an operator of torch's namespaces or of one that current contains"
        raise RefusedError(f'unknown target "{name}", wanted {wanted}')
    return _overload(name, namespace, rest)


def _higher_order(name: str) -> Any:
    if name not in HIGHER_ORDER:
        raise RefusedError(f'"higher_order.{name}" is not rebuilt, wanted one of {", ".join(HIGHER_ORDER)}')
    return getattr(torch.ops.higher_order, name)


def _overload(name: str, namespace: str, rest: str) -> Any:
    operation, _, overload = rest.partition(".")
    full = f"{namespace}::{operation}" + ("" if overload in {"", "default"} else f".{overload}")
    # also keeps out what only TorchScript's interpreter has, such as aten::save, which writes a file
    if not torch._C._dispatch_has_kernel(full):
        raise RefusedError(f'no operator "{name}" is registered here')
    found = getattr(getattr(getattr(torch.ops, namespace), operation, None), overload or "default", None)
    if not isinstance(found, torch._ops.OpOverload):
        raise RefusedError(f'no operator "{name}" is registered here')
    _refuse_unsafe(name, found)
    return found


def _refuse_unsafe(name: str, found: Any) -> None:
    """Refuse what reaches beyond its tensors: files (``aten.from_file``), the terminal, another graph's storage."""
    schema = found._schema
    if any("file" in argument.name or "path" in argument.name for argument in schema.arguments):
        raise RefusedError(f'"{name}" opens files')
    if found._opname in {"_print", "warn", "set_"} or any("Storage" in str(a.type) for a in schema.arguments):
        raise RefusedError(f'"{name}" does more than compute')


def returns_many(target: Any) -> bool:
    """Whether a call gives a list or a tuple, whose items getitem takes."""
    if isinstance(target, torch._ops.OpOverload):
        returns = target._schema.returns
        return len(returns) > 1 or (len(returns) == 1 and str(returns[0].type).startswith("List"))
    return isinstance(target, torch._ops.HigherOrderOperator)


def keywords(target: Any, names: tuple[str, ...]) -> None:
    """Refuse keywords that the target does not have: fx writes them into the code that it generates.

    Raises:
        RefusedError: one of them is not an argument of the operator, or the target takes none.
    """
    schema = target._schema if isinstance(target, torch._ops.OpOverload) else None
    known = {argument.name for argument in schema.arguments} if schema is not None else set()
    unknown = [name for name in names if name not in known or not name.isidentifier() or keyword.iskeyword(name)]
    if unknown:
        raise RefusedError(f'unknown keyword "{unknown[0]}"')

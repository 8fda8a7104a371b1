"""Find parameters that pytest named by position: an inserted parameter would shift every baseline behind it."""

from __future__ import annotations

import enum
import re
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

# what pytest writes into an id as itself (_pytest.python.IdMaker._idval); everything else becomes argname + index
NATURAL = (str, bytes, int, float, bool, complex, type(None), re.Pattern, enum.Enum)
LONG = 100  # pytest 9.1 and newer number longer texts (parametrize_long_str_id_strategy)


def automatic_parameter(item: pytest.Item) -> str | None:
    """Return the first argument whose part of the test's id says only its position, or None."""
    spec = getattr(item, "callspec", None)
    if spec is None:
        return None
    parts = f"-{spec.id}-"
    for name, value in spec.params.items():
        index = spec.indices.get(name, 0)
        automatic = (f"-{name}{index}-", "-<lambda>-", f"-<lambda>{index}-")
        if not _natural(value) and any(part in parts for part in automatic) and not _explicit(item, name, index):
            return str(name)
    return None


def _natural(value: Any) -> bool:
    if isinstance(value, (str, bytes)) and len(value) > LONG:
        return False
    name = getattr(value, "__name__", None)
    named = isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType))
    return isinstance(value, NATURAL) or (named and isinstance(name, str) and name != "<lambda>")


def _explicit(item: pytest.Item, argument: str, index: int) -> bool:
    """Return whether the user wrote this id, which then only looks like an automatic one."""
    for mark in item.iter_markers("parametrize"):
        names, values = (
            mark.args[0] if mark.args else mark.kwargs["argnames"],
            mark.args[1:2] or [mark.kwargs.get("argvalues")],
        )
        if argument not in ([part.strip() for part in names.split(",")] if isinstance(names, str) else names):
            continue
        ids = mark.kwargs.get("ids")
        if isinstance(ids, (list, tuple)) and index < len(ids) and ids[index] is not None:
            return True
        given = list(values[0] or ()) if isinstance(values[0], (list, tuple)) else []
        return index < len(given) and getattr(given[index], "id", None) is not None
    return False

"""Decomposition tables of a spec: what the tracer takes, and what the file's header says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.errors import UsageError

if TYPE_CHECKING:
    from guard.specs import Decompositions


def table(decompositions: Decompositions) -> dict[Any, Any] | None:
    """The table as torch takes it."""
    if decompositions is None:
        return None
    if isinstance(decompositions, str):
        if decompositions != "core_aten":
            raise UsageError(f'decompositions: wanted a mapping or "core_aten", got {decompositions!r}')
        import torch._decomp

        return dict(torch._decomp.core_aten_decompositions())
    return dict(decompositions)


def table_text(decompositions: Decompositions) -> str:
    """Its text in a header: a name, or the operators in sorted order."""
    if decompositions is None or isinstance(decompositions, str):
        return str(decompositions)
    return f"[{', '.join(sorted(str(op) for op in decompositions))}]"

"""Outer types: what the user sees of a DTensor or another traceable wrapper subclass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.ir.types import DTensorType, Mesh, OpaqueType, SubclassType, TensorType, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.ir.lower.values import Types


def outer_type(types: Types, value: torch.Tensor, *, requires_grad: bool, attribute: str | None = None) -> Type | None:
    """The type of a wrapper subclass, None for a plain tensor.

    ``attribute`` names the inner tensor that the graph computes with; a DTensor has one, others may have several.
    """
    if not is_traceable_wrapper_subclass(value):
        return None
    full = types._tensor(value, None, requires_grad=requires_grad)
    if is_dtensor(value):
        local = local_type(types, value._local_tensor)
        return DTensorType(full, mesh_of(value.device_mesh), tuple(placement(p) for p in value.placements), local)
    names, _ = value.__tensor_flatten__()
    name = attribute if attribute is not None else names[0]
    inner = getattr(value, name.split(".")[0])
    return SubclassType(type(value).__name__, full, name, local_type(types, inner))


def local_type(types: Types, value: Any) -> TensorType:
    """The innermost plain tensor of nested wrappers."""
    while isinstance(value, torch.Tensor) and is_traceable_wrapper_subclass(value):
        names, _ = value.__tensor_flatten__()
        value = getattr(value, names[0])
    found = types.of(value)
    return found if isinstance(found, TensorType) else TensorType("?", ())


def is_dtensor(value: Any) -> bool:
    """Told by its parts and not by an import: torch.distributed may be absent from a build."""
    return all(hasattr(value, part) for part in ("_local_tensor", "device_mesh", "placements"))


def mesh_of(mesh: Any) -> Mesh:
    """A device mesh by value; ranks None where they count from 0 in row-major order."""
    ranks = tuple(mesh.mesh.flatten().tolist())
    return Mesh(tuple(mesh.mesh.shape), None if ranks == tuple(range(len(ranks))) else ranks)


def is_mesh(value: Any) -> bool:
    """A DeviceMesh, or torch's fake stand-in for one as a graph's opaque value (torch >= 2.13)."""
    real = getattr(value, "real_obj", value)
    return type(real).__name__ == "DeviceMesh" or type_name_of(value).endswith("DeviceMesh")


def type_name_of(value: Any) -> str:
    """Name that a FakeScriptObject carries of the class that it stands for, or ""."""
    return str(getattr(value, "script_class_name", ""))


def placement(value: Any) -> str:
    """``R``, ``S(0)``, ``P(sum)``; another kind by its class and its fields."""
    kind = type(value).__name__
    if kind == "Replicate":
        return "R"
    if kind == "Shard":
        return f"S({value.dim})"
    if kind == "Partial":
        return f"P({value.reduce_op})"
    return "".join(c for c in repr(value) if c != " ")


def opaque(value: Any) -> OpaqueType:
    """An object that is known by its class alone."""
    return OpaqueType(type(value).__name__)


def inner_attributes(value: torch.Tensor) -> Sequence[str]:
    """Names of the inner tensors, in torch's order."""
    names, _ = value.__tensor_flatten__()
    return tuple(names)

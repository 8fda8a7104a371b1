"""What AOTAutograd knows of wrapper subclasses while it traces and drops after: tangents and gradients as the user sees them."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULES = (
    "torch._functorch._aot_autograd.graph_capture",
    "torch._functorch._aot_autograd.dispatch_and_compile_graph",
)
"""Where torch calls aot_dispatch_subclass from: the first from 2.9 on, the second before."""


@dataclass
class AotMetadata:
    """The metadata of one AOT compilation; empty where torch does not let it be seen, and then types are local only."""

    forward: Any = None
    subclass: Any = None

    def tangent(self, descriptor: Any) -> Any:
        """The example tangent (a DTensor, say) of a TangentAOTInput, None where it is a plain tensor or not known."""
        from guard.tracers.outputs import outer_value

        known = getattr(self.forward, "traced_tangents_descs", None) or ()
        values = getattr(self.forward, "traced_tangents", None) or ()
        found = next((value for d, value in zip(known, values, strict=False) if d == descriptor), None)
        return outer_value(found)

    def gradients(self, descriptors: list[Any]) -> dict[Any, Any]:
        """GradAOTOutput -> the subclass that the gradient is, by position: a missing gradient has a meta but no descriptor."""
        metas = getattr(self.subclass, "grad_input_metas", None)
        if not metas:
            return {}
        outputs = _grouped(descriptors)[-len(metas) :]
        return {
            base: getattr(meta, "original_subclass", None)
            for base, meta in zip(outputs, metas, strict=False)
            if base is not None
        }


def _grouped(descriptors: list[Any]) -> list[Any]:
    """Base descriptors, the inner tensors of one subclass counted once."""
    from guard.tracers.descriptors import unwrapped

    found: list[Any] = []
    for descriptor in descriptors:
        base, attribute = unwrapped(descriptor)
        if base is None or attribute is None or not found or found[-1] != base:
            found.append(base)
    return found


@dataclass
class AotRecord:
    """Every AOT compilation seen while recording, in order."""

    seen: list[AotMetadata] = field(default_factory=list)

    def last(self) -> AotMetadata:
        """The compilation in progress, or an empty one."""
        return self.seen[-1] if self.seen else AotMetadata()


@contextlib.contextmanager
def recorded() -> Iterator[AotRecord]:
    """While open, remember the metadata that each AOT compilation passes to its subclass dispatch."""
    record = AotRecord()
    patched = []
    for module in (sys.modules.get(name) for name in _MODULES):
        original = getattr(module, "aot_dispatch_subclass", None)
        if original is not None:
            module.aot_dispatch_subclass = _watched(original, record)  # type: ignore[union-attr]
            patched.append((module, original))
    try:
        yield record
    finally:
        for module, original in patched:
            module.aot_dispatch_subclass = original  # type: ignore[union-attr]


def _watched(original: Any, record: AotRecord) -> Any:
    def aot_dispatch_subclass(*args: Any, **kwargs: Any) -> Any:
        info = original(*args, **kwargs)
        record.seen.append(AotMetadata(kwargs.get("meta"), getattr(info, "maybe_subclass_meta", None)))
        return info

    return aot_dispatch_subclass

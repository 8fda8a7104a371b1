"""What AOTAutograd knows of wrapper subclasses only while it traces: tangents and gradients as the user sees them."""

from __future__ import annotations

import contextlib
import functools
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guard.tracers.descriptor_path import unwrapped
from guard.tracers.outputs import outer_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DISPATCH = ("torch._functorch._aot_autograd.graph_capture", "aot_dispatch_subclass")
_CREATE = ("torch._functorch._aot_autograd.graph_capture_wrappers", "create_subclass_meta")
"""Where torch (2.9 to 2.14) wraps the flat program, and where the joint trace says what its gradients are."""


@dataclass
class AotMetadata:
    """The metadata of one AOT compilation; empty where torch does not let it be seen, and then types are local only."""

    tangents: list[tuple[Any, Any]] = field(default_factory=list)
    """(descriptor, example) of each tangent: torch drops the examples when it has traced."""
    gradient_values: list[Any] = field(default_factory=list)
    """The gradients of the last joint trace, one a flat input; None where there is none."""

    def tangent(self, descriptor: Any) -> Any:
        """The example tangent (a DTensor, say) of a TangentAOTInput, None where it is a plain tensor or not known."""
        return outer_value(next((value for known, value in self.tangents if known == descriptor), None))

    def gradients(self, descriptors: list[Any]) -> dict[Any, Any]:
        """GradAOTOutput -> the subclass that the gradient is, by place: a missing one has no descriptor."""
        count = len(self.gradient_values)
        outputs = _grouped(descriptors)[-count:] if count else []
        pairs = zip(outputs, self.gradient_values, strict=False)
        return {base: outer_value(value) for base, value in pairs if base is not None}


def _grouped(descriptors: list[Any]) -> list[Any]:
    """Base descriptors, the inner tensors of one subclass counted once."""
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
    """While open, remember what each AOT compilation knows of its subclasses."""
    record = AotRecord()
    with contextlib.ExitStack() as stack:
        for (module, name), watch in ((_DISPATCH, _watch_dispatch), (_CREATE, _watch_create)):
            stack.enter_context(_replaced(module, name, functools.partial(watch, record)))
        yield record


@contextlib.contextmanager
def _replaced(module: str, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace a function of torch's where it is there; a torch without it shows less, and nothing wrong."""
    found = sys.modules.get(module)
    original = getattr(found, name, None)
    if original is None:
        yield
        return
    setattr(found, name, make(original))
    try:
        yield
    finally:
        setattr(found, name, original)


def _watch_dispatch(record: AotRecord, original: Any) -> Any:
    def aot_dispatch_subclass(*args: Any, **kwargs: Any) -> Any:
        meta = kwargs.get("meta")
        descriptors = getattr(meta, "traced_tangents_descs", None) or ()
        examples = getattr(meta, "traced_tangents", None) or ()
        record.seen.append(AotMetadata(list(zip(descriptors, examples, strict=False))))
        return original(*args, **kwargs)

    return aot_dispatch_subclass


def _watch_create(record: AotRecord, original: Any) -> Any:
    def create_subclass_meta(values: Any, *args: Any, **kwargs: Any) -> Any:
        record.last().gradient_values = list(values)
        return original(values, *args, **kwargs)

    return create_subclass_meta

"""The path inside a descriptor: its base, and the attributes of wrapper subclasses around it."""

from __future__ import annotations

from typing import Any

# Descriptors are told by class name: guard runs on torches that lack some of them.
ATTRIBUTES = {"SubclassGetAttrAOTInput", "SubclassGetAttrAOTOutput"}
SIZES = {"SubclassSizeAOTInput", "SubclassStrideAOTInput", "SubclassSizeAOTOutput", "SubclassStrideAOTOutput"}


def kind(descriptor: Any) -> str:
    """Class name of a descriptor."""
    return type(descriptor).__name__


def unwrapped(descriptor: Any) -> tuple[Any, str | None]:
    """Base descriptor under the subclass ones, and the dotted attribute between."""
    path: list[str] = []
    while kind(descriptor) in ATTRIBUTES | SIZES:
        if kind(descriptor) in ATTRIBUTES:
            path.insert(0, str(descriptor.attr))
        descriptor = descriptor.base
    return descriptor, ".".join(path) or None

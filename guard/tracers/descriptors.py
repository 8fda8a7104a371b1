"""AOTAutograd's descriptors (torch/_functorch/_aot_autograd/descriptors.py) -> names, roles and outer types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guard.ir.lower.context import Placeholder, Returned
from guard.ir.lower.subclasses import is_mesh
from guard.tracers.descriptor_path import SIZES, kind, unwrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from guard.tracers.aot_metadata import AotMetadata


@dataclass
class Descriptors:
    """Names one AOT graph's inputs and outputs."""

    inputs: Callable[[Any], Placeholder | None]
    """The user's input of a Param, Buffer or Plain descriptor."""
    output: Callable[[int], Returned]
    """The user's flat output by index."""
    metadata: AotMetadata
    saved: dict[int, str] = field(default_factory=dict)

    def placeholders(self, module: torch.fx.GraphModule) -> tuple[Placeholder, ...]:
        """Every placeholder of the graph, in its order."""
        nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
        unnamed = iter(range(len(nodes)))
        return tuple(
            self._placeholder(node.meta["desc"], node)
            if node.meta.get("desc") is not None
            else Placeholder(f"saved.{next(unnamed)}", "saved")
            for node in nodes
        )

    def _placeholder(self, descriptor: Any, node: torch.fx.Node) -> Placeholder:
        base, attribute = unwrapped(descriptor)
        known = self.named(base)
        if is_mesh(node.meta.get("val")):
            return Placeholder(known.name, dropped=True)
        if kind(descriptor) in SIZES:
            return Placeholder(f"{known.name}.{'size' if 'Size' in kind(descriptor) else 'stride'}.{descriptor.idx}")
        if attribute in {None, "_local_tensor"}:
            return known
        return Placeholder(
            f"{known.name}.{attribute}", known.role, known.labels, known.outer, known.requires_grad, attribute=attribute
        )

    def named(self, base: Any) -> Placeholder:
        """The input of a base descriptor (nothing of a subclass around it)."""
        known = self.inputs(base)
        if known is not None:
            return known
        if kind(base) == "TangentAOTInput":
            return Placeholder(f"tangent.{self._of(base.output)}", "tangent", outer=self.metadata.tangent(base))
        if kind(base) in {"ViewBaseAOTInput", "SyntheticBaseAOTInput"}:
            return Placeholder(f"{self.named(base.base_of).name}.base")
        return Placeholder(_plain(base))

    def _of(self, output: Any) -> str:
        if kind(output) == "PlainAOTOutput":
            return str(output.idx)
        if kind(output) == "InputMutationAOTOutput":
            return f"mutated.{self.named(output.mutated_input).name}"
        if kind(output) == "IntermediateBaseAOTOutput":
            return f"base.{self._of(output.base_of)}"
        return _plain(output)

    def returned(self, module: torch.fx.GraphModule) -> tuple[Returned, ...]:
        """Every flat output of the graph, in its order; gradients are placed by ``grad_input_metas``."""
        node = next(iter(reversed(module.graph.nodes)))
        values = list(node.args[0]) if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
        descriptors = list(node.meta.get("desc") or [None] * len(values))
        descriptors += [None] * (len(values) - len(descriptors))
        gradients = self.metadata.gradients(descriptors)
        return tuple(self._returned(d, v, gradients) for d, v in zip(descriptors, values, strict=False))

    def _returned(self, descriptor: Any, value: Any, gradients: dict[Any, Any]) -> Returned:
        if is_mesh(getattr(value, "meta", {}).get("val")):
            return Returned(dropped=True)
        base, attribute = unwrapped(descriptor)
        if kind(base) == "GradAOTOutput":
            return Returned("grad", self.named(base.grad_of).name, gradients.get(base), attribute=attribute)
        if kind(base) == "PlainAOTOutput":
            known = self.output(base.idx)
            return Returned(known.role, known.of, known.outer, known.requires_grad, attribute=attribute)
        if kind(base) == "InputMutationAOTOutput":
            known_input = self.named(base.mutated_input)
            return Returned("mutated", known_input.name, known_input.outer, attribute=attribute)
        return Returned("saved" if kind(base).startswith("SavedForBackwards") else "output")


def _plain(descriptor: Any) -> str:
    text = descriptor.expr() if hasattr(descriptor, "expr") else kind(descriptor)
    return "".join(c if c.isalnum() or c in "._" else "." for c in text).strip("._")

"""Compile: torch.compile with a capturing AOT backend: each region's forward and backward, breaks, recompiles."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.utils import _pytree as pytree

from guard.ir.lower.context import Context, Placeholder, Returned
from guard.ir.lower.trees import distinct, parameter_names
from guard.tracers import aot_metadata, decompositions
from guard.tracers.aot_joint import shape_env_of
from guard.tracers.aot_metadata import AotMetadata, AotRecord
from guard.tracers.descriptor_path import kind
from guard.tracers.descriptors import Descriptors
from guard.tracers.differentiate import differentiate, sources_of
from guard.tracers.dynamo_events import collected, recompile_event
from guard.tracers.dynamo_sources import input_of, source_name
from guard.tracers.outputs import outer_value, requires_grad
from guard.tracers.partition import partitioned
from guard.tracers.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.ir.graph import Event
    from guard.specs import Compile


@dataclass
class Region:
    """One call of the backend: what Dynamo captured between two graph breaks."""

    inputs: list[Placeholder]
    outputs: list[Returned]
    given: tuple[torch.fx.GraphModule, Sequence[Any]] | None = None
    """What Dynamo captured, and its example inputs."""
    call: Callable[..., Any] | None = None
    """What AOTAutograd made of it."""
    metadata: AotMetadata = field(default_factory=AotMetadata)
    graphs: dict[str, torch.fx.GraphModule] = field(default_factory=dict)


class Regions:
    """The capturing backend of one capture."""

    def __init__(
        self, spec: Compile, record: AotRecord, positional: Sequence[str], known: Sequence[Region] = ()
    ) -> None:
        self._positional = positional
        self._known = list(known)
        self.found: list[Region] = []
        self._record = record
        self._table = decompositions.table(spec.decompositions)

    def backend(self, module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        """Hand the region to AOTAutograd with compilers that keep each graph and run it as it is."""
        call = _same(self._known, module, example_inputs) if self._known else None
        if call is not None:
            return call
        region = Region(_inputs(module, example_inputs, self._positional), _outputs(module), (module, example_inputs))
        self.found.append(region)
        compiled = aot_autograd(
            fw_compiler=self._keeping(region, "forward"),
            bw_compiler=self._keeping(region, "backward"),
            partition_fn=partitioned,
            decompositions=self._table,
            keep_inference_input_mutations=True,
        )
        region.call = compiled(module, example_inputs)
        return region.call

    def _keeping(self, region: Region, name: str) -> Callable[..., Any]:
        def compiler(module: torch.fx.GraphModule, _inputs: list[Any]) -> Any:
            region.graphs[name] = module
            if name == "forward":  # AOTAutograd has traced by now, and the next region comes after
                region.metadata = self._record.last()
            return make_boxed_func(module.forward)

        return compiler

    def graphs(self) -> list[tuple[torch.fx.GraphModule, Context]]:
        """Every graph with its context, numbered from the second region on: ``forward``, ``forward_2``."""
        return [
            (region.graphs[name], _context(region, name, number))
            for number, region in enumerate(self.found, 1)
            for name in ("forward", "backward")
            if name in region.graphs
        ]


def trace(spec: Compile, program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Compile and run forward and backward, then run again: what compiles the second time is a recompile."""
    torch._dynamo.reset()
    with aot_metadata.recorded() as record:
        regions = Regions(spec, record, _positional(program, len(args)))
        compiled = torch.compile(program, backend=regions.backend, dynamic=spec.dynamic, fullgraph=spec.fullgraph)
        with collected() as found:
            _run(compiled, args, kwargs)
            first = len(regions.found)
            events: tuple[Event, ...] = found.events()
            recompiles = _again(compiled, args, kwargs, regions, first)
        return Traced(tuple(regions.graphs()), (*events, *recompiles), tuple(regions.found))


def compiled(
    spec: Compile, program: Callable[..., Any], count: int, known: Sequence[Region] = ()
) -> Callable[..., Any]:
    """Compile the program once more, as ``trace`` does, to run it.

    Args:
        spec: how.
        program: it.
        count: of its positional arguments.
        known: regions of a capture: where Dynamo captures the same again, their graphs run.
    """
    torch._dynamo.reset()
    regions = Regions(spec, AotRecord(), _positional(program, count), known)
    call: Callable[..., Any] = torch.compile(
        program, backend=regions.backend, dynamic=spec.dynamic, fullgraph=spec.fullgraph
    )
    return call


def _positional(program: Callable[..., Any], count: int) -> list[str]:
    """Names behind Dynamo's ``args``: a module's; a function's locals have their own names."""
    return parameter_names(program, count) if isinstance(program, torch.nn.Module) else []


def _again(
    compiled: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], regions: Regions, first: int
) -> list[Event]:
    with collected() as found:
        _run(compiled, args, kwargs)
    return [recompile_event(reason) for reason in found.recompiles[: len(regions.found) - first]]


def _run(compiled: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run the program and differentiate every output that asks for it: the backward compiles when it is reached."""
    edges = sources_of((args, kwargs))
    result = compiled(*args, **kwargs)
    leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    roots = [leaf for leaf in leaves if leaf.grad_fn is not None]
    if roots:
        differentiate(roots, edges)


def _inputs(module: torch.fx.GraphModule, example_inputs: list[Any], positional: Sequence[str]) -> list[Placeholder]:
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    known = [input_of(source_name(node), node.name, positional) for node in nodes]
    names = distinct(placeholder.name for placeholder in known)
    return [
        replace(placeholder, name=name, outer=outer_value(example), requires_grad=requires_grad(example))
        for placeholder, name, example in zip(known, names, example_inputs, strict=False)
    ]


def _outputs(module: torch.fx.GraphModule) -> list[Returned]:
    node = next(iter(reversed(module.graph.nodes)))
    leaves = node.args[0] if isinstance(node.args[0], (tuple, list)) else (node.args[0],)
    return [_returned(leaf.meta.get("example_value")) if hasattr(leaf, "meta") else Returned() for leaf in leaves]


def _same(
    known: Sequence[Region], module: torch.fx.GraphModule, example_inputs: Sequence[Any]
) -> Callable[..., Any] | None:
    """What was made of the same graph for inputs of the same types; None where there is none, or a size is a symbol."""
    if not _is_static(example_inputs):
        return None
    key = (module.code, *map(_type, example_inputs))
    pairs = ((region, *region.given) for region in known if region.given is not None)
    return next((r.call for r, graph, inputs in pairs if (graph.code, *map(_type, inputs)) == key), None)


def _is_static(values: Sequence[Any]) -> bool:
    """Tell whether no size is a symbol: AOTAutograd may assume more of one, and only compiling says so to Dynamo."""
    sizes = [size for value in values if isinstance(value, torch.Tensor) for size in value.shape]
    return not any(isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool) for size in (*values, *sizes))


def _type(value: Any) -> tuple[Any, ...]:
    """What a region is compiled for: an input's type, symbols by their names."""
    if not isinstance(value, torch.Tensor):
        return (type(value), str(value))
    return (type(value), value.dtype, value.device, str(tuple(value.shape)), str(value.stride()), value.requires_grad)


def _returned(value: Any) -> Returned:
    return Returned(outer=outer_value(value), requires_grad=requires_grad(value))


def _context(region: Region, name: str, number: int) -> Context:
    module = region.graphs[name]

    def plain_input(base: Any) -> Placeholder | None:
        known = kind(base) == "PlainAOTInput" and base.idx < len(region.inputs)
        return region.inputs[base.idx] if known else None

    def plain_output(index: int) -> Returned:
        return region.outputs[index] if index < len(region.outputs) else Returned()

    descriptors = Descriptors(plain_input, plain_output, region.metadata)
    return Context(
        name if number == 1 else f"{name}_{number}",
        descriptors.placeholders(module),
        descriptors.returned(module),
        shape_env=shape_env_of(module),
    )

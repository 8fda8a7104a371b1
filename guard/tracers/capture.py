"""Capture: run a tracer on a program under guard's fixes and hand back IR; a trace that raises is a result too."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from guard.errors import UsageError
from guard.ir.graph import Program
from guard.ir.lower.bodies import Bodies
from guard.ir.lower.context import Context
from guard.ir.lower.walk import lower_graph
from guard.specs import AotJoint, Compile, MakeFx
from guard.tracers import aot_joint, make_fx, sources
from guard.tracers import compile as compile_
from guard.tracers.aot_joint import shape_env_of
from guard.tracers.decompositions import table_text
from guard.tracers.errors import classify, is_capture_error
from guard.tracers.errors.partial import partial_graph
from guard.tracers.errors.places import is_user
from guard.tracers.fixes.table import Applied, applied
from guard.tracers.leftovers import leftover
from guard.tracers.parameters import lifted
from guard.tracers.state import modes_off, preserved
from guard.tracers.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from guard.ir.graph import Graph
    from guard.specs import Tracer

_TRACERS: dict[type, Callable[..., Traced]] = {
    MakeFx: make_fx.trace,
    AotJoint: aot_joint.trace,
    Compile: compile_.trace,
}


@dataclass(frozen=True)
class Captured:
    """What came out of one capture."""

    program: Program
    engaged: tuple[str, ...] = ()
    """Fixes that did something while this was traced."""
    sources: tuple[str, ...] = ()
    """Files of the user's code that the trace ran through."""
    constants: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """Those that the text has the digest of, by it."""
    traced: Traced | None = None
    """The fx graphs themselves, to be run; None where the capture failed."""
    dropped: tuple[Graph, ...] = ()
    """Graphs as they were before the tracer dropped dead nodes, where it was seen to drop some."""
    left: tuple[str, str] | None = None
    """Module attribute in which tracing left a tensor of its own, and that tensor's class."""


@dataclass(frozen=True)
class Job:
    """What is to be captured."""

    spec: Tracer
    program: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def trace(self) -> Traced:
        """Run the tracer of the spec."""
        return _TRACERS[type(self.spec)](self.spec, self.program, self.args, self.kwargs)


def capture(job: Job, *, check: str, fixes: str = "on", cache: Path | None = None) -> Captured:
    """Trace the job's program as its spec says; everything that tracing disturbs is restored after.

    ``fixes`` is "on" (guard's fixed tracer) or "off" (torch's own behaviour); ``cache`` keeps the probes' answers.
    """
    if type(job.spec) not in _TRACERS:
        raise UsageError(f"tracer: wanted MakeFx, AotJoint or Compile, got {type(job.spec).__name__}")
    _refuse_lazy(job.program)
    header = Program(check, tracer_text(job.spec))
    with prepared(job, fixes=fixes, cache=cache) as fixed, sources.recorded() as seen:
        found = _traced(job, header)
    files = seen.files | _own_file(job.program)
    return replace(found, engaged=fixed.engaged(), sources=tuple(sorted(files)))


@contextlib.contextmanager
def prepared(job: Job, *, fixes: str, cache: Path | None) -> Iterator[Applied]:
    """Make all ready for one ``job.trace()``, and put back after it what that disturbed, whatever it raised.

    What is in force meanwhile: guard's fixes, seeded random generators, no remembered fake results, torch's warnings.
    """
    fixing = applied(cache) if fixes == "on" else contextlib.nullcontext(Applied({}))
    _forget_fake_results()
    with preserved(job.program, job.args, job.kwargs), fixing as fixed, _torch_warnings():
        yield fixed


def _refuse_lazy(program: Any) -> None:
    """Refuse a module with uninitialized parameters: it has no graph yet, and no state that could be restored."""
    if not isinstance(program, torch.nn.Module):
        return
    tensors = (*program.named_parameters(), *program.named_buffers())
    lazy = next((name for name, tensor in tensors if torch.nn.parameter.is_lazy(tensor)), None)
    if lazy is not None:
        tip = "run the module once on an example before guard.check"
        raise UsageError(f'program: wanted initialized parameters, got lazy "{lazy}"', tip)


def _forget_fake_results() -> None:
    """Begin each capture with no remembered fake results, so that it does not matter what was traced before.

    A meta function may return one tensor as two results (mkldnn_rnn_layer_backward's biases): they are one proxy when
    it runs and two when FakeTensorMode's cache answers for it, and the graphs differ.
    """
    clear = getattr(torch._subclasses.FakeTensorMode, "cache_clear", None)
    if clear is not None:
        clear()


def _traced(job: Job, header: Program) -> Captured:
    held = make_fx.registered(job.program) if isinstance(job.spec, MakeFx) else []
    try:
        traced = job.trace()
        make_fx.put_back(held)
    except BaseException as error:
        if not is_capture_error(error):
            raise
        failed = classify(error, program=job.program)
        with modes_off():
            return Captured(replace(header, error=failed, partial=_partial(error)))
    with modes_off():
        lowered = replace(lower(traced.graphs, header, traced.events), dropped=_dropped(traced))
    return replace(lowered, traced=traced, left=leftover(job.program, job.args, job.kwargs))


def _dropped(traced: Traced) -> tuple[Graph, ...]:
    return tuple(lower_graph(module, context)[0] for module, context in traced.dropped)


def lower(graphs: Any, header: Program, events: tuple[Any, ...] = ()) -> Captured:
    """Lower every graph of a capture into one file's program."""
    bodies = Bodies()
    lowered = tuple(lower_graph(module, context, bodies)[0] for module, context in graphs)
    return Captured(Program(header.check, header.tracer, lowered, bodies.all(), events), constants=bodies.constants)


def lower_module(module: torch.fx.GraphModule, *, check: str) -> Captured:
    """Lower a graph that the user's own pipeline captured.

    Raises:
        UsageError: It is none.
    """
    if not isinstance(module, torch.fx.GraphModule):
        raise UsageError(f"guard.check_graph: wanted a torch.fx.GraphModule, got {type(module).__name__}")
    env = shape_env_of(module)
    with modes_off():
        context = Context("main", lifted=lifted(module), shape_env=env)
        traced = Traced(((module, context),))
        return replace(lower(traced.graphs, Program(check, "graph_module()")), traced=traced)


def tracer_text(spec: Tracer) -> str:
    """A spec as the header says it: ``make_fx(tracing_mode=real)``, fields at their default left out but the first."""
    name = {MakeFx: "make_fx", AotJoint: "aot_joint", Compile: "compile"}[type(spec)]
    fields = {
        key: value for key, value in vars(spec).items() if key == "tracing_mode" or value != getattr(type(spec)(), key)
    }
    texts = {key: table_text(value) if key == "decompositions" else str(value) for key, value in fields.items()}
    return f"{name}({', '.join(f'{key}={text}' for key, text in texts.items())})"


def _partial(error: BaseException) -> Graph | None:
    """What torch had traced when it failed; None where there is nothing, or nothing that can be read."""
    graph = partial_graph(error)
    if graph is None:
        return None
    try:
        module = torch.fx.GraphModule(torch.nn.Module(), graph)
        return lower_graph(module, Context("partial", shape_env=shape_env_of(module)))[0]
    except Exception:  # noqa: BLE001 - a half-built graph may break any rule, and the error itself is the result
        return None


@contextlib.contextmanager
def _torch_warnings() -> Iterator[None]:
    """Show torch's warnings as by default: 2.13 warns about itself, and ``-W error`` must not change a verdict."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("default")
        yield


def _own_file(program: Any) -> set[str]:
    target = type(program) if hasattr(program, "named_parameters") else program
    try:
        file = inspect.getfile(inspect.unwrap(target))
    except TypeError:  # a builtin or a callable object
        return set()
    return {file} if is_user(file) else set()

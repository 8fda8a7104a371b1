"""Replay: run what was captured beside its program, from one state, and say whether both do the same."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from guard.findings import Replayed
from guard.replay import forward, ranks
from guard.replay.contrast import Terms, Wrong, contrast
from guard.replay.differ import Tolerance
from guard.replay.forward import Request
from guard.replay.fresh import nudge, redraw
from guard.replay.isolation import Isolation
from guard.replay.named import inputs_of, state_of
from guard.replay.noted import has_data
from guard.replay.refusal import UnreplayedError, first_line
from guard.replay.second import has_symbols, second_arguments
from guard.replay.sides import of_module, side_of
from guard.specs import Compile, MakeFx
from guard.tracers.capture import Job, prepared
from guard.tracers.fixes.table import applied
from guard.tracers.state.modes import modes_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from guard.ir.graph import Graph
    from guard.replay.named import Named
    from guard.replay.observed import Observed
    from guard.replay.sides import Side
    from guard.specs import Replay
    from guard.tracers.capture import Captured
    from guard.tracers.traced import Traced

EXAMPLE, FRESH, SECOND = "example", "fresh", "second size"


@dataclass(frozen=True)
class Case:
    """One set of arguments, and what is done to them before each run."""

    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    prepare: Callable[[], None] | None = None


def replay(job: Job, captured: Captured, asked: Replay, *, fixes: str = "on", cache: Path | None = None) -> Replayed:
    """Replay what a tracer captured of a job's program.

    Args:
        job: what was captured.
        captured: what came out, not an error.
        asked: by the check.
        fixes: as of the capture: a compiled program is compiled once more.
        cache: of the probes' answers.
    """
    assert captured.traced is not None  # noqa: S101 - a capture that failed is not replayed
    traced, program = captured.traced, captured.program
    graph = program.graphs[0] if program.graphs else None
    with _in_force(job, fixes, cache):
        return _guarded(lambda: _Pair(job, side_of(job, traced), asked, traced).verdict(graph))


def _in_force(job: Job, fixes: str, cache: Path | None) -> AbstractContextManager[object]:
    """What the capture ran under: a program may trace by itself, and a compiled one is compiled once more."""
    if isinstance(job.spec, Compile):
        return prepared(job, fixes=fixes, cache=cache)
    return applied(cache) if fixes == "on" else contextlib.nullcontext()


def replay_module(eager: Callable[..., Any], captured: Captured, asked: Replay) -> Replayed:
    """Replay a graph of the user's own against the program that it stands for, on the arguments of ``asked``."""
    assert captured.traced is not None  # noqa: S101 - it was lowered
    traced = captured.traced

    def run() -> Replayed:
        job = Job(MakeFx(), eager, _made(asked.inputs), {})
        return _Pair(job, of_module(traced), replace(asked, inputs=None), traced).verdict(None)

    return _guarded(run)


def _made(inputs: Any) -> tuple[Any, ...]:
    """Arguments from what a check gave for them: a tuple, one argument, or a function that makes them.

    Raises:
        UnreplayedError: the function fails.
    """
    try:
        made = inputs() if callable(inputs) else inputs
    except Exception as error:
        raise UnreplayedError(f"inputs= fails: {first_line(error)}") from error
    return made if isinstance(made, tuple) else (made,)


def _guarded(run: Callable[[], Replayed]) -> Replayed:
    try:
        return run()
    except UnreplayedError as error:
        return Replayed("not replayed", reason=str(error))


class _Pair:
    """A program and what was captured of it."""

    def __init__(self, job: Job, side: Side, asked: Replay, traced: Traced) -> None:
        self._job, self._side, self._asked = job, side, asked
        self._modules = [module for module, _ in traced.graphs]
        self._order = side.order if asked.order is None else asked.order
        if self._order > side.most:
            raise UnreplayedError(f"order={self._order}: this tracer's graph can be differentiated {side.most} times")
        self._terms = Terms(_tolerance(asked), flags=side.flags or bool(self._order))
        with modes_off():
            _refuse_without_data(job)
            self._tangents = None if side.tangents is None or not self._order else side.tangents()
        self._isolation = Isolation(job.program, job.args, job.kwargs, *self._modules)

    def verdict(self, graph: Graph | None) -> Replayed:
        """Run every case; the first difference ends it."""
        ran: list[str] = []
        skipped: list[str] = []
        for label, cases in self._cases(graph):
            try:
                wrong = self._first(cases)
            except UnreplayedError as error:
                if label == EXAMPLE:
                    raise
                skipped.append(f"on {_inputs(label)}: {error}")
                continue
            ran.append(label)
            if wrong is not None:
                reason = f"{wrong.what} differs from eager on {_inputs(label)}"
                return Replayed("unfaithful", tuple(ran), reason, (wrong.line,))
        return Replayed("not replayed" if skipped else "replayed", tuple(ran), "; ".join(skipped))

    def _cases(self, graph: Graph | None) -> Iterator[tuple[str, list[Callable[[], Case]]]]:
        """What is run, each with the ways to make its arguments: a later one is for where eager fails on the first."""
        job = self._job
        yield EXAMPLE, [lambda: Case(EXAMPLE, job.args, job.kwargs)]
        yield (
            FRESH,
            [self._given]
            if self._asked.inputs is not None
            else [
                lambda: Case(FRESH, job.args, job.kwargs, lambda: self._redraw(integers=True)),
                lambda: Case(FRESH, job.args, job.kwargs, lambda: self._redraw(integers=False)),
            ],
        )
        if graph is not None and has_symbols(graph):
            yield SECOND, [lambda: Case(SECOND, *second_arguments(graph, job.program, job.args, job.kwargs))]

    def _redraw(self, *, integers: bool) -> None:
        with modes_off():
            redraw(
                (leaf for _, leaf in inputs_of(self._job.program, self._job.args, self._job.kwargs)), integers=integers
            )
            if isinstance(self._job.program, torch.nn.Module) and self._side.holds is None:
                nudge(self._job.program.parameters())

    def _given(self) -> Case:
        with self._isolation.run():
            args = _made(self._asked.inputs)
        wanted, got = (pytree.tree_structure((found, self._job.kwargs)) for found in (self._job.args, args))
        if wanted != got:
            raise UnreplayedError("inputs= gives other arguments than the check has")
        return Case(FRESH, args, self._job.kwargs)

    def _first(self, ways: list[Callable[[], Case]]) -> Wrong | None:
        """Compare on the first way to make the arguments that eager bears."""
        *others, last = ways
        for way in others:
            with contextlib.suppress(UnreplayedError):
                return self._compare(way())
        return self._compare(last())

    def _compare(self, case: Case) -> Wrong | None:
        isolation = self._isolation
        if case.args is not self._job.args:
            isolation = Isolation(self._job.program, case.args, case.kwargs, *self._modules)
        eager = self._eager(isolation, case)
        wrong = self._against(eager, isolation, case)
        if wrong is not None:
            self._confirm(eager, isolation, case)
        return wrong

    def _request(self, case: Case) -> Request:
        program, args, kwargs = self._job.program, case.args, case.kwargs
        arguments, holds = inputs_of(program, args, kwargs), self._side.holds

        def named() -> list[Named]:
            state = state_of(program)
            return [*arguments, *(one for one in state if holds is None or id(one.tensor) in holds)]

        return Request(args, kwargs, named, self._order, self._tangents)

    def _eager(self, isolation: Isolation, case: Case) -> Observed:
        """Run the program itself.

        Raises:
            UnreplayedError: it fails: on inputs that guard drew that is nobody's defect.
        """
        with isolation.run():
            if case.prepare is not None:
                case.prepare()
            try:
                with ranks.watched() as talked:
                    found = forward.run(self._job.program, self._request(case))
            except UnreplayedError:
                raise
            except Exception as error:
                raise UnreplayedError(f"eager fails: {first_line(error)}") from error
            if talked:
                raise UnreplayedError("collectives need real ranks")
            return found

    def _against(self, eager: Observed, isolation: Isolation, case: Case) -> Wrong | None:
        """Run the graph, and compare."""
        try:
            graph = self._graph(isolation, case)
        except UnreplayedError:
            raise
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise UnreplayedError(f"there is not enough memory: {first_line(error)}") from error
        except Exception as error:  # noqa: BLE001 - whatever it raises, eager did not
            if self._order or self._side.order:
                return Wrong("the run of the graph", f"it raises {first_line(error)}")
            return self._without_grad(eager, isolation, case, error)
        return contrast(eager, graph, self._terms)

    def _graph(self, isolation: Isolation, case: Case) -> Observed:
        with isolation.run():
            if case.prepare is not None:
                case.prepare()
            return self._side.run(self._request(case))

    def _without_grad(self, eager: Observed, isolation: Isolation, case: Case, raised: Exception) -> Wrong | None:
        """Run a graph without its grad modes again: what no_grad allowed the program, autograd forbids the graph."""
        try:
            with torch.no_grad():
                graph = self._graph(isolation, case)
        except Exception:  # noqa: BLE001 - then it was not autograd
            return Wrong("the run of the graph", f"it raises {first_line(raised)}")
        settings = {**graph.settings, "grad mode": eager.settings.get("grad mode")}
        return contrast(eager, replace(graph, settings=settings), self._terms._replace(flags=False))

    def _confirm(self, eager: Observed, isolation: Isolation, case: Case) -> None:
        """Refuse a difference that eager has with itself.

        Raises:
            UnreplayedError: it is no fault of the graph's.
        """
        again = contrast(eager, self._eager(isolation, case), self._terms)
        if again is not None:
            raise UnreplayedError(f"eager differs from itself when it is run again: {again.what}")
        with _filled():
            if self._against(self._eager(isolation, case), isolation, case) is None:
                raise UnreplayedError("it returns memory that nothing was written to")


@contextlib.contextmanager
def _filled() -> Iterator[None]:
    """While open, memory that nothing was written to is nan, for eager and for the graph."""
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def _tolerance(asked: Replay) -> Tolerance:
    if asked.tolerance is None or isinstance(asked.tolerance, str):
        return Tolerance(bitwise=asked.tolerance == "bitwise")
    return Tolerance(*asked.tolerance)


def _inputs(label: str) -> str:
    return {EXAMPLE: "the example inputs", FRESH: "fresh inputs", SECOND: "inputs of a second size"}[label]


def _refuse_without_data(job: Job) -> None:
    tensors = [*inputs_of(job.program, job.args, job.kwargs), *state_of(job.program)]
    name = next((name for name, tensor in tensors if not has_data(tensor)), None)
    if name is not None:
        raise UnreplayedError(f"n/a: {name} is fake or meta, and has no data")

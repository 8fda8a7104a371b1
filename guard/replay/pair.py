"""A program and what was captured of it, run side by side until they part."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from guard.findings import Replayed
from guard.replay import forward, ranks
from guard.replay.cases import EXAMPLE, SPOKEN, Case, Cases
from guard.replay.contrast import Terms, Wrong, contrast
from guard.replay.differ import Tolerance
from guard.replay.forward import Request
from guard.replay.isolation import Isolation
from guard.replay.named import inputs_of, state_of
from guard.replay.refusal import UnreplayedError, first_line
from guard.replay.unrecorded import Unrecorded
from guard.tracers.data import has_data
from guard.tracers.state.modes import modes_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.ir.graph import Graph
    from guard.replay.named import Named
    from guard.replay.observed import Observed
    from guard.replay.sides import Side
    from guard.specs import Replay
    from guard.tracers.capture import Job
    from guard.tracers.traced import Traced


class Pair:
    """A program and what was captured of it."""

    def __init__(self, job: Job, side: Side, asked: Replay, traced: Traced) -> None:
        """Save what both begin with.

        Raises:
            UnreplayedError: they cannot be run as is asked.
        """
        self._job, self._side, self._asked = job, side, asked
        self._modules = [module for module, _ in traced.graphs]
        self._order = side.order if asked.order is None else asked.order
        if self._order > side.most:
            raise UnreplayedError(
                f"order={self._order}: this tracer's graph is differentiated {side.most} times at most"
            )
        self._terms = Terms(_tolerance(asked), flags=side.flags or bool(self._order))
        with modes_off():
            _refuse_without_data(job)
            self._tangents = None if side.tangents is None or not self._order else side.tangents()
        self._isolation = Isolation(job.program, job.args, job.kwargs, *self._modules)

    def verdict(self, graph: Graph | None) -> Replayed:
        """Run every case; the first difference ends it.

        Args:
            graph: as it was lowered, for its symbols; None where nothing may have another size.

        Raises:
            UnreplayedError: the example itself does not run.
        """
        ran: list[str] = []
        skipped: list[str] = []
        cases = Cases(self._job, self._asked, self._isolation, graph, nudges=self._side.holds is None)
        for label, ways in cases.of(ran):
            try:
                wrong = self._first(ways)
            except UnreplayedError as error:
                if label == EXAMPLE:
                    raise
                skipped.append(f"on {SPOKEN[label]}: {error}")
                continue
            ran.append(label)
            if wrong is not None:
                reason = f"{wrong.what} differs from eager on {SPOKEN[label]}"
                return Replayed("unfaithful", tuple(ran), reason, (wrong.line,))
        return Replayed("not replayed" if skipped else "replayed", tuple(ran), "; ".join(skipped))

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
        if wrong is not None and wrong.is_flag and self._switches_off_unrecorded(isolation, case):
            self._terms = self._terms._replace(surplus=True)
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

    def _switches_off_unrecorded(self, isolation: Isolation, case: Case) -> bool:
        """Tell whether eager is without gradients where no graph could say so; never where gradients are asked for."""
        if self._order:
            return False
        unrecorded = Unrecorded()
        with contextlib.suppress(UnreplayedError), unrecorded:
            self._eager(isolation, case)
        return unrecorded.ran

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


def _refuse_without_data(job: Job) -> None:
    tensors = [*inputs_of(job.program, job.args, job.kwargs), *state_of(job.program)]
    name = next((name for name, tensor in tensors if not has_data(tensor)), None)
    if name is not None:
        raise UnreplayedError(f"n/a: {name} is fake or meta, and has no data")

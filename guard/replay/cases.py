"""On which arguments a replay runs: the example's, other values in them, and a second size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from guard.replay.fresh import nudge, redraw
from guard.replay.refusal import UnreplayedError, first_line
from guard.replay.second import has_symbols, second_arguments
from guard.tracers.state.modes import modes_off

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from guard.ir.graph import Graph
    from guard.replay.isolation import Isolation
    from guard.specs import Replay
    from guard.tracers.capture import Job

EXAMPLE, FRESH, SECOND = "example", "fresh", "second size"
SPOKEN = {EXAMPLE: "the example inputs", FRESH: "fresh inputs", SECOND: "inputs of a second size"}


@dataclass(frozen=True)
class Case:
    """One set of arguments, and what is done to them before each run."""

    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    prepare: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Cases:
    """The cases of one job."""

    job: Job
    asked: Replay
    isolation: Isolation
    """Of the job's own arguments."""
    graph: Graph | None
    """The captured graph, whose symbols say what may have another size; None where it has none."""
    nudges: bool
    """Whether parameters are moved, too: where the graph reads the program's own."""

    def of(self, ran: Collection[str]) -> Iterator[tuple[str, list[Callable[[], Case]]]]:
        """Yield each label with the ways to make its arguments: a later way is for where eager fails on the first.

        Args:
            ran: labels that were replayed so far, as it grows: inputs of a second size are fresh ones, too.
        """
        yield EXAMPLE, [lambda: Case(EXAMPLE, self.job.args, self.job.kwargs)]
        if self.graph is not None and has_symbols(self.graph):
            yield SECOND, [self._second]
        if self.asked.inputs is not None:
            yield FRESH, [self._given]
        elif SECOND not in ran:
            yield FRESH, [partial(self._fresh, integers=whether) for whether in self._permutable()]

    def _permutable(self) -> tuple[bool, ...]:
        leaves = pytree.tree_leaves((self.job.args, self.job.kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        kept = (torch.bool,)
        whole = any(not (t.is_floating_point() or t.is_complex()) and t.dtype not in kept for t in tensors)
        return (True, False) if whole else (False,)

    def _fresh(self, *, integers: bool) -> Case:
        args, kwargs = self.job.args, self.job.kwargs
        return Case(FRESH, args, kwargs, lambda: self._redraw(args, kwargs, integers=integers))

    def _second(self) -> Case:
        assert self.graph is not None  # noqa: S101 - the caller has looked
        args, kwargs = second_arguments(self.graph, self.job.program, self.job.args, self.job.kwargs)
        return Case(SECOND, args, kwargs, lambda: self._redraw(args, kwargs, integers=False))

    def _redraw(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, integers: bool) -> None:
        with modes_off():
            redraw(pytree.tree_leaves((args, kwargs)), integers=integers)
            if self.nudges and isinstance(self.job.program, torch.nn.Module):
                nudge(self.job.program.parameters())

    def _given(self) -> Case:
        with self.isolation.run():
            args = made(self.asked.inputs)
        wanted, got = (pytree.tree_structure((found, self.job.kwargs)) for found in (self.job.args, args))
        if wanted != got:
            raise UnreplayedError("inputs= gives other arguments than the check has")
        return Case(FRESH, args, self.job.kwargs)


def made(inputs: Any) -> tuple[Any, ...]:
    """Make arguments of what a check gave for them: a tuple, one argument, or a function that makes them.

    Raises:
        UnreplayedError: the function fails.
    """
    try:
        found = inputs() if callable(inputs) else inputs
    except Exception as error:
        raise UnreplayedError(f"inputs= fails: {first_line(error)}") from error
    return found if isinstance(found, tuple) else (found,)

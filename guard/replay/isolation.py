"""Runs of one program that know nothing of each other: each begins with the same state and seed, and leaves none."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import torch

from guard.tracers.state import ambient, modes
from guard.tracers.state.modes import modes_off
from guard.tracers.state.objects import SavedObjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SEED = 40_000
"""Of torch's generators: not 0, the capture's and many programs': a graph that lost its ``manual_seed(0)`` is seen."""


class Isolation:
    """What the program and its arguments were; saved once, put back after every run.

    As guard.tracers.state.preserved, but that what Dynamo has compiled is kept: a compiled program runs several times.
    """

    def __init__(self, program: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *more: Any) -> None:
        """Save: the arguments, the modules and tensors that the program reaches, and ``more``."""
        self._flags = ambient.flags(dynamo=False)
        with modes_off():
            self._objects = SavedObjects()
            self._objects.add_arguments(args, kwargs)
            self._objects.add_program(program)
            for one in more:
                self._objects.add(one)

    @contextlib.contextmanager
    def run(self) -> Iterator[None]:
        """Seed, let the block run, and put everything back, whatever it raised."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")  # the trace has shown them
            stack.callback(_restore_flags, ambient.read(self._flags))
            with modes_off():
                random = ambient.read(ambient.random_states())
            stack.callback(self._restore, random)
            stack.callback(modes.restore, modes.read())
            with modes_off():
                ambient.seed(_SEED)
            yield

    def _restore(self, random: ambient.Saved) -> None:
        with modes_off():
            ambient.restore(random)
            self._objects.restore()


def _restore_flags(flags: ambient.Saved) -> None:
    """Not under modes_off, which sets grad mode itself and would take it back."""
    with torch._C.DisableTorchFunction():
        ambient.restore(flags)

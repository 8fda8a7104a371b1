"""What a capture disturbs, put back: a program may be called any number of times, and sees the same state each time."""

from __future__ import annotations

import warnings
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from guard.tracers.state import ambient, modes
from guard.tracers.state.modes import modes_off
from guard.tracers.state.objects import SavedObjects

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["modes_off", "preserved"]


@contextmanager
def preserved(program: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
    """Seed every random generator, run the block, and put back what the program may have changed, whatever it raised.

    Put back are the arguments and the modules that the program reaches (tensors' data, metadata, gradient and identity;
    attributes; nested containers), random states, default dtype and device, grad, inference and autocast modes, the
    stacks of modes and of functorch, Dynamo's caches and config, determinism, threads, sys.excepthook and the warnings
    filters. Objects of other classes that a module holds are not looked into.
    """
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        stack.callback(_restore_flags, ambient.read(ambient.flags()))
        with modes_off():
            saved = _saved_objects(program, args, kwargs), ambient.read(ambient.random_states())
        stack.callback(_restore_values, *saved)
        stack.callback(ambient.reset_dynamo)
        # last in, first out: nothing else may run under a mode that the program left behind
        stack.callback(modes.restore, modes.read())
        with modes_off():
            ambient.seed()
        ambient.reset_dynamo()
        yield


def _saved_objects(program: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SavedObjects:
    objects = SavedObjects()
    objects.add_arguments(args, kwargs)
    objects.add_program(program)
    return objects


def _restore_values(objects: SavedObjects, random_states: ambient.Saved) -> None:
    with modes_off():
        ambient.restore(random_states)
        objects.restore()


def _restore_flags(flags: ambient.Saved) -> None:
    """Not under modes_off, which sets grad mode itself and would take it back."""
    with torch._C.DisableTorchFunction():
        ambient.restore(flags)

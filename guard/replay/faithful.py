"""Replay: does what was captured compute what its program computes? The one door of this room for ``guard.check``."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.findings import Replayed
from guard.replay.cases import made
from guard.replay.pair import Pair
from guard.replay.refusal import UnreplayedError
from guard.replay.sides import of_module, side_of
from guard.specs import Compile, MakeFx
from guard.tracers.capture import Job, prepared
from guard.tracers.fixes.table import applied

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from guard.specs import Replay
    from guard.tracers.capture import Captured


def replay(job: Job, captured: Captured, asked: Replay, *, fixes: str = "on", cache: Path | None = None) -> Replayed:
    """Replay what a tracer captured of a job's program.

    Args:
        job: what was captured.
        captured: what came out, not an error.
        asked: by the check.
        fixes: as of the capture.
        cache: of the probes' answers.
    """
    assert captured.traced is not None  # noqa: S101 - a capture that failed is not replayed
    if captured.left is not None:
        name, kind = captured.left
        line = f"wanted a Tensor, got a {kind}: the program meets it when it is called again"
        return Replayed(
            "unfaithful", reason=f'module attribute "{name}" after tracing differs from eager', lines=(line,)
        )
    traced, graphs = captured.traced, captured.program.graphs
    graph = graphs[0] if graphs else None
    with _in_force(job, fixes, cache):
        return _guarded(lambda: Pair(job, side_of(job, traced), asked, traced).verdict(graph))


def replay_module(eager: Callable[..., Any], captured: Captured, asked: Replay) -> Replayed:
    """Replay a graph of the user's own against the program that it stands for, on the arguments of ``asked``."""
    assert captured.traced is not None  # noqa: S101 - it was lowered
    traced = captured.traced

    def run() -> Replayed:
        job = Job(MakeFx(), eager, made(asked.inputs), {})
        return Pair(job, of_module(traced), replace(asked, inputs=None), traced).verdict(None)

    return _guarded(run)


def _in_force(job: Job, fixes: str, cache: Path | None) -> AbstractContextManager[object]:
    """What the capture ran under: a program may trace by itself, and a compiled one is compiled once more."""
    if isinstance(job.spec, Compile):
        return prepared(job, fixes=fixes, cache=cache)
    return applied(cache) if fixes == "on" else contextlib.nullcontext()


def _guarded(run: Callable[[], Replayed]) -> Replayed:
    try:
        return run()
    except UnreplayedError as error:
        return Replayed("not replayed", reason=str(error))

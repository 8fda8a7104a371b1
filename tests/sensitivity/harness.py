"""Run the project's own checks, and look at each capture where it is lowered. The bench says what is done with it."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import pytest

from tests.project import ROOT, plugin
from tests.sensitivity.bench import Bench, Settings, Tally
from tests.sensitivity.draft import Draft, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.ir.graph import Program
    from guard.tracers.capture import Captured


def run(chosen: str = "", settings: Settings | None = None) -> Tally:
    """Run the checks that pytest's ``-k`` chooses, and try each capture's mutants and rewrites."""
    tally = Tally()
    arguments = [str(ROOT / "checks"), "-q", f"--rootdir={ROOT}", *plugin(), "-p", "no:cacheprovider", "-p", "no:xdist"]
    arguments += ["-o", "addopts=", *(["-k", chosen] if chosen else [])]
    printed = io.StringIO()
    with _hooked(Bench(tally, settings or Settings())), contextlib.redirect_stdout(printed):
        code = pytest.main(arguments)
    if code:
        tally.failures.append(f"the checks themselves do not pass:\n{printed.getvalue()}")
    return tally


@contextlib.contextmanager
def _hooked(bench: Bench) -> Iterator[None]:
    """Put the bench where a capture is lowered: its process groups live, and the user's modes are off."""
    from guard.tracers import capture

    original = capture.lower

    def lower(graphs: Any, header: Program, events: tuple[Any, ...] = ()) -> Captured:
        found = original(graphs, header, events)
        parts = [Part(module, context) for module, context in graphs]
        bench.look(Draft(parts, header.check, header.tracer, list(events)), found.program)
        return found

    capture.lower = lower
    try:
        yield
    finally:
        capture.lower = original

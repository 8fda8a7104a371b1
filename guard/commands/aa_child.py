"""One process of ``guard selftest --aa``: captures the corpus, and says what it counted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from guard.ir.printer import print_program


def main(given: dict[str, Any]) -> None:
    """Write each capture's graph and calls, and a graph that is worth timing.

    Args:
        given: ``seed`` of the order, ``cache`` (a folder, or null) and ``answer`` as paths.
    """
    from guard.cost.trace.corpus import heavy, jobs
    from guard.tracers.capture import capture

    cache = None if given["cache"] is None else Path(given["cache"])
    captures: dict[str, Any] = {}
    with jobs() as named:
        order = sorted(named)
        random.Random(given["seed"]).shuffle(order)  # noqa: S311 - as workers meet checks in any order
        for name in order:
            captures[name] = _measured(named[name], cache)
    timed = print_program(capture(heavy(), check="aa::heavy", cache=cache).program)
    Path(given["answer"]).write_text(json.dumps({"captures": captures, "timed": timed}), encoding="utf-8")


def _measured(job: Any, cache: Path | None) -> dict[str, Any]:
    from guard.cost.trace import trace_cost
    from guard.tracers.capture import capture

    graph = print_program(capture(job, check="aa::capture", cache=cache).program)
    counted = trace_cost(job, cache=cache)
    if isinstance(counted, str):
        return {"graph": graph, "problem": counted}
    return {"graph": graph, "calls": counted.calls, "key": str(counted.key)}

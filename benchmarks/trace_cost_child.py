"""One process of test_trace_cost: counts each capture of the corpus, plain and with 1 % more calls, and times it.

Its argument is the seed of the order of the corpus; it prints JSON.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from guard.cost.trace.corpus import jobs
from guard.cost.trace.cost import cost
from guard.tracers.capture import Job, capture, prepared

if TYPE_CHECKING:
    from guard.tracers.traced import Traced

ROUNDS = 10
PLANTED = 0.01


@dataclass(frozen=True)
class Watched(Job):
    """Notes each trace's seconds, and makes more calls in each."""

    seconds: list[float]
    more: int = 0

    def trace(self) -> Traced:
        started = time.perf_counter()
        found = plain(self).trace()
        self.seconds.append(time.perf_counter() - started)
        burn(self.more)
        return found


def plain(job: Job) -> Job:
    return Job(job.spec, job.program, job.args, job.kwargs)


def burn(calls: int) -> None:
    """Make so many events: each a call of a C function."""
    for _ in range(calls):
        len(())


def main(seed: int) -> dict[str, Any]:
    found = {}
    with jobs() as named:
        order = sorted(named)
        random.Random(seed).shuffle(order)  # noqa: S311 - an order, no secret
        for name in order:
            found[name] = measured(named[name])
    return found


def measured(job: Job) -> dict[str, Any]:
    capture(job, check="a::b", fixes="off")
    watched = Watched(job.spec, job.program, job.args, job.kwargs, [])
    started = time.perf_counter()
    counted = cost(watched, fixes="off")
    counting = time.perf_counter() - started
    captures = len(watched.seconds)
    if isinstance(counted, str):
        return {"problem": counted, "captures": captures}
    planted = cost(replace(watched, more=int(PLANTED * counted.calls) + 1), fixes="off")
    times = timed(job)
    return {
        "calls": counted.calls,
        "planted": planted if isinstance(planted, str) else planted.calls,
        "captures": captures,
        "counting": counting,
        "mean": sum(times) / len(times),
        "min": min(times),
    }


def timed(job: Job) -> list[float]:
    """Time warm traces as pytest-benchmark does: one after the other."""
    watched = Watched(job.spec, job.program, job.args, job.kwargs, [])
    gc.collect()
    for _ in range(ROUNDS):
        with prepared(watched, fixes="off", cache=None):
            watched.trace()
    return watched.seconds


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]))))

"""Counts of the corpus in this process, as JSON: run as a script by tests."""

from __future__ import annotations

import json
import sys

from guard.cost.trace.corpus import jobs
from guard.cost.trace.cost import cost
from guard.tracers.capture import capture


def counts(names: list[str]) -> dict[str, int | str]:
    """Capture each once, as guard.check does, and count it."""
    found: dict[str, int | str] = {}
    with jobs() as named:
        for name in names or named:
            capture(named[name], check="a::b", fixes="off")
            counted = cost(named[name], fixes="off")
            found[name] = counted if isinstance(counted, str) else counted.calls
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(counts(sys.argv[1:])))

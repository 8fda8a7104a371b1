"""Run the project's own checks in this process; print the CPU seconds of tracing and of replaying as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from guard.replay import faithful
from guard.tracers import capture as tracing

if TYPE_CHECKING:
    from types import ModuleType

spent: defaultdict[str, float] = defaultdict(float)


def timed(module: ModuleType, name: str) -> None:
    """Time every call of a function that the session imports anew for each check."""
    original = getattr(module, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        started = time.process_time()
        try:
            return original(*args, **kwargs)
        finally:
            again = name == "capture" and kwargs.get("fixes") == "off"
            spent["without fixes" if again else name] += time.process_time() - started

    setattr(module, name, call)


timed(tracing, "capture")
timed(faithful, "replay")
plugin = ["-p", "guard.pytest_plugin", "-p", "no:xdist", "-p", "no:cacheprovider"]
code = pytest.main(["-qq", *plugin, *sys.argv[1:]])
print(json.dumps({"code": int(code), **spent}))  # noqa: T201 - the result

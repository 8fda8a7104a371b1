"""Whether calls can be counted in this process at all: asks, and changes nothing. Knows no torch."""

from __future__ import annotations

import sys
import threading

from guard.cost.trace.monitoring_hook import TOOLS


def unfit() -> str | None:
    """Say why a count here would mean nothing or disturb somebody; None where it may be taken."""
    if sys.gettrace() is not None:
        return "a debugger or coverage is tracing"
    if sys.getprofile() is not None:
        return "a profiler is running"
    tool = _tool()
    if tool is not None:
        return f'"{tool}" is using sys.monitoring'
    if threading.current_thread() is not threading.main_thread():
        return "this is not the main thread"
    if sys.flags.hash_randomization:
        # orders of sets differ: symbolic captures moved by 0.08 %, compiled ones by 0.1 %
        return "PYTHONHASHSEED is not 0 in this process; guard check sets it for its workers"
    return None


def _tool() -> str | None:
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12
    if monitoring is None:
        return None
    names = (monitoring.get_tool(number) for number in TOOLS)
    return next((name for name in names if name is not None), None)

"""How many workers a run gets, and their environment."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.config import Config

# One process with torch that traces; measured at 0.6 to 1.5 GiB
MEMORY = 2 << 30
# Captures are single-threaded work on small tensors: more threads a worker only fight
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# version 2 and version 1 of Linux's control groups, as a container sees its own
GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
MANY = 1000  # a parametrized test may be any number of checks
TEST = re.compile(r"^\s*(?:async\s+)?def\s+test", re.MULTILINE)


def count(config: Config, asked: int | str | None, files: Iterable[Path], selected: int | None) -> int:
    """Return how many workers are of use: at most one a check, a core, and 2 GiB of memory; what was asked for wins.

    Args:
        config: has the project's number.
        asked: the command line's number, None where it gave none.
        files: test modules that the run collects.
        selected: how many checks were named one by one, None where that is not known before collection.
    """
    wanted = config.workers if asked is None else asked
    if isinstance(wanted, int):
        return wanted
    checks = _checks(files) if selected is None else selected
    return max(1, int(min(cores(), memory() / MEMORY, checks)))


def environment(seed: int = 0) -> dict[str, str]:
    """Return the variables to set for workers: threads that the user has not set, and the hash seed whatever it is.

    Calls are counted at one seed; tox sets another in each run.
    """
    return {name: "1" for name in THREADS if name not in os.environ} | {"PYTHONHASHSEED": str(seed)}


def cores() -> int:
    """Return the cores that this process may use, which a container or taskset limits."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else (os.cpu_count() or 1)


def memory() -> float:
    """Return the bytes of memory of this machine or container, infinite where it cannot be known."""
    return min(_machine(), *map(_limit, GROUPS))


def _limit(group: str) -> float:
    try:
        return float(Path(group).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or "max"
        return float("inf")


def _machine() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows
        return float("inf")


def _checks(files: Iterable[Path]) -> int:
    """Estimate the number of checks without an import."""
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return sum(len(TEST.findall(text)) + MANY * text.count("parametrize") for text in texts)

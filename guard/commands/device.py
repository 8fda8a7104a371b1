"""Is there a device of some kind? A fresh process asks torch: this one has not imported it, and need not."""

from __future__ import annotations

import subprocess
import sys

from guard.environment import torch_problem, torch_version
from guard.errors import UsageError

# Seconds. The first use of a device loads its libraries, from a cold disk too
PATIENCE = 300.0
# is_available() of a driver that does not work may say yes: only a value that came back tells
_ASK = "import sys, torch; assert torch.ones(2, device=sys.argv[1]).sum().item() == 2"


def require(name: str) -> None:
    """Refuse to go on where this machine has no such device: a run without it would say nothing of it.

    Raises:
        UsageError: ``no CUDA device``, with the last line that torch says.
    """
    problem = torch_problem(torch_version()) or _problem(name)
    if problem is not None:
        raise UsageError(f"no {name.partition(':')[0].upper()} device: {problem}", f'"{name}" is required')


def _problem(name: str) -> str | None:
    try:
        asked = subprocess.run(  # noqa: S603 - this Python, and the name is an argument, not code
            [sys.executable, "-c", _ASK, name], capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer in {PATIENCE:.0f} s"
    if asked.returncode == 0:
        return None
    said = asked.stderr.decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"torch ended with exit {asked.returncode}"

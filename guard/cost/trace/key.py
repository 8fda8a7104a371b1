"""Where a count is taken: torch's build, Python, the system, the fixes in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from guard.cost.calls import Key
from guard.environment import current

if TYPE_CHECKING:
    from collections.abc import Iterable


def key(fixes: Iterable[str]) -> Key:
    """Describe this process. The git commit tells two nightlies of one date apart, and two source builds."""
    build = getattr(torch.version, "git_version", None)
    version = str(torch.__version__) + (f" git-{build[:12]}" if build else "")
    here = current()
    return Key(version, here.python, here.platform, tuple(sorted(fixes)))

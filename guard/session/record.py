"""Keep what a check saw for ``guard accept``: the session's only writes, all below ``.guard/``."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.baselines.constants import MAX_ONE
from guard.baselines.constants import keep as keep_constant
from guard.baselines.meta import Meta
from guard.baselines.pending import digest, digests, drop_pending, pending_path, write_pending
from guard.environment import current
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from guard.session.setting import Setting
    from guard.session.trace import Waits


class Bound(NamedTuple):
    """What a pending capture stands beside."""

    baseline: bytes | None = None
    """What it was compared with."""
    cost: Waits | None = None
    """A trace cost that waits with it."""
    unfaithful: str | None = None
    """What its replay found wrong."""


def write(setting: Setting, check: str, text: str | None, sources: Iterable[str | Path], bound: Bound) -> str:
    """Write the pending file; return its path relative to the root.

    Args:
        setting: of the run.
        check: its id.
        text: the graphs; None where they hold and only a trace cost waits.
        sources: files whose code the capture ran.
        bound: what it was compared with, and the trace cost that waits, too.

    Raises:
        GuardError: The state folder cannot be written.
    """
    root, now = setting.config.root, current(setting.device)
    meta = Meta(
        torch=now.torch,
        baseline=None if bound.baseline is None else digest(bound.baseline),
        fixes=setting.fixes,
        device=setting.device,
        python=now.python,
        platform=now.platform,
        sources=digests(root, sorted({Path(root, source).as_posix() for source in sources})),
        action="cost" if text is None else "record",
        cost=None if bound.cost is None else bound.cost.key,
        cost_baseline=None if bound.cost is None else bound.cost.bound,
        unfaithful=bound.unfaithful,
    )
    file = None if bound.cost is None else bound.cost.file
    try:
        return write_pending(setting.config, check, text, meta, file)
    except GuardError:
        # another worker's check that holds may have pruned the folder between its making and its use
        return write_pending(setting.config, check, text, meta, file)


def keep(setting: Setting, constants: Mapping[str, Any]) -> None:
    """Keep the bytes of current's large constants for ``guard bench``, which says of those that are not there."""
    if not constants:
        return
    from guard.ir.lower.constants import bytes_of

    with suppress(OSError):
        for digest, tensor in constants.items():
            if tensor.nbytes <= MAX_ONE:
                keep_constant(setting.config, digest, bytes_of(tensor))


def forget(setting: Setting, check: str, *, counted: bool = False) -> None:
    """Drop what an earlier run saw, now that the check holds; a trace cost alone only where one was counted."""
    # accept refuses a stale one by its digests: not worth a finding
    with suppress(OSError):
        if counted or pending_path(setting.config, check).exists():
            drop_pending(setting.config, check)

"""Whether what a check captured computes what its program computes: when that is asked, and what fails the check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.findings import Finding, Replayed

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.session.asked import Asked
    from guard.session.setting import Setting


def replayed(setting: Setting, asked: Asked, captured: Any, run: Callable[[Any], Replayed]) -> Replayed | None:
    """Replay a capture; None where the run does not replay.

    Args:
        setting: of the run.
        asked: by the check.
        captured: what the tracer gave (guard.tracers.capture.Captured).
        run: replays it; not called where the capture failed, or a reason says no.
    """
    if not setting.replaying:
        return None
    if asked.replay.off:
        return Replayed("not replayed", reason=asked.replay.off)
    if captured.program.error is not None:
        return Replayed("not replayed", reason="the capture fails")
    with setting.watch.phase("replaying"):
        return run(captured)


def unfaithful(check: str, found: Replayed | None) -> tuple[Finding, ...]:
    """Return what fails the check."""
    if found is None or found.state != "unfaithful":
        return ()
    return (Finding("unfaithful", check, found.reason, found.lines),)

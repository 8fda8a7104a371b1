"""The exception by which a replay ends without a verdict."""

from __future__ import annotations

from guard.tracers.errors.telling import scrub

_LONGEST = 300


class UnreplayedError(Exception):
    """There is nothing to compare; the text is the reason, and never the graph's fault."""


def first_line(error: BaseException) -> str:
    """What an error says, in one line that is the same in every process: its class, its first line."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return scrub(f"{type(error).__name__}: {text[:_LONGEST]}".rstrip(": "))

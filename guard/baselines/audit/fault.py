"""What is wrong with one file: pure data."""

from __future__ import annotations

from typing import NamedTuple

# Kinds of fault; docs/json.md lists them
KINDS = ("conflict", "unreadable", "spelling", "place", "module", "orphan", "missing", "unstaged", "state")


class Fault(NamedTuple):
    """One thing to mend before a commit."""

    path: str
    """Relative to the project's root."""
    line: int
    """Counts from 1."""
    kind: str
    """One of KINDS."""
    problem: str
    """Lower case, no full stop."""
    fix: str
    """One command to paste."""

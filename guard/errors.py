"""Errors that end a command: one class a kind of exit. Each is a sentence for the user, never a traceback."""

from __future__ import annotations

import errno

MACHINE = frozenset((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE))
"""What an OSError says where the machine refuses: a full disk or a right that is missing is no bug of guard's."""


class GuardError(Exception):
    """What the user can mend: shown as ``error: <problem>`` and a tip. Exit 2 unless a subclass says otherwise."""

    exit_code = 2

    def __init__(self, problem: str, tip: str | None = None) -> None:
        super().__init__(problem if tip is None else f"{problem}\n  {tip}")
        self.problem = problem
        self.tip = tip


class UsageError(GuardError):
    """A flag, an id or a configuration key that is not right."""


class GraphSyntaxError(GuardError):
    """A graph file that does not parse; ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int, column: int, path: str = "<text>") -> None:
        super().__init__(f"{path}:{line}:{column}: {message}")
        self.message = message
        self.line = line
        self.column = column
        self.path = path


class TorchMissingError(GuardError):
    """torch is absent, or older than guard supports."""

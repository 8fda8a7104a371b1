"""Which fixes a capture really needs: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.canonical import equal
from guard.ir.printer import print_program

if TYPE_CHECKING:
    from guard.ir.graph import Program


def needs(engaged: tuple[str, ...], fixed: Program, bare: Program) -> tuple[str, ...]:
    """Return the engaged fixes if torch alone captures something else, none otherwise.

    A fix can do something and change nothing; only a second capture, without fixes, tells.
    """
    same = bare.error is None and (print_program(fixed) == print_program(bare) or equal(fixed, bare))
    return () if same else engaged

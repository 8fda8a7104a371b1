"""The pytest item that a fixture belongs to, as far as guard needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.findings import Finding


@dataclass(frozen=True)
class Subject:
    """The pytest item that a fixture belongs to, as far as guard needs it."""

    nodeid: str
    source: str
    """``path:line`` of the test function."""
    refusal: Finding | None = None
    """Why this test cannot be guarded as it is written."""

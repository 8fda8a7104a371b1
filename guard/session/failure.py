"""The exception by which a finding fails its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.findings import Finding


class CheckFailed(Exception):  # noqa: N818 - it is no error of guard's: a check did not hold
    """A check has a finding; the plugin shows the finding in place of a traceback."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.kind}: {finding.check} - {finding.title}")
        self.finding = finding

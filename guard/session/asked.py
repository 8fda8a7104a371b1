"""What one call of ``guard.check`` says for itself, in place of the project's word. Refuses what makes no sense."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from guard.config import ALARMS, is_tolerance
from guard.errors import UsageError
from guard.specs import Replay, Sizes

if TYPE_CHECKING:
    from guard.policy import Rule


@dataclass(frozen=True)
class Asked:
    """What one check says for itself; None is the project's word."""

    rules: tuple[Rule, ...] = ()
    """Of policy, before the project's."""
    wanted: bool | None = None
    tolerance: float | None = None
    sizes: Sizes | None = None
    replay: Replay = field(default_factory=Replay)
    alarms: Literal["note", "warn", "fail"] | None = None
    """What a sign of wrongness in its graph is."""

    def __post_init__(self) -> None:
        """Refuse what would be found out only once the program was traced."""
        if self.wanted is not None and not isinstance(self.wanted, bool):
            raise UsageError(f"guard.check: wanted trace_cost=True or False, got {self.wanted!r}")
        if self.tolerance is not None and not is_tolerance(self.tolerance):
            raise UsageError(f"guard.check: wanted trace_tolerance= from 0 up to 1, got {self.tolerance!r}")
        if self.sizes is not None and not isinstance(self.sizes, Sizes):
            raise UsageError(f"guard.check: wanted sizes=Sizes(make), got {type(self.sizes).__name__}")
        if self.alarms is not None and self.alarms not in ALARMS:
            raise UsageError(f'guard.check: wanted alarms="note", "warn" or "fail", got {self.alarms!r}')

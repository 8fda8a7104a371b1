"""What all checks of one process share: the project, what was asked for, the watch. Frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from guard.session.watch import Watch

if TYPE_CHECKING:
    from guard.config import Config
    from guard.session.closure import Closure


@dataclass(frozen=True)
class Setting:
    """Where and how the checks of this process run."""

    config: Config
    device: str = "cpu"
    fixes: Literal["on", "off"] = "on"
    watch: Watch = field(default_factory=Watch)
    counting: Literal["off", "on", "record"] = "off"
    """Whether trace costs are counted; ``record``: and wait for ``guard accept`` where none was accepted yet."""
    closure: Closure | None = None
    """Hears what checks depend on."""
    replaying: bool = True
    """Whether graphs are replayed."""
    alarms: Literal["on", "full", "seen"] = "on"
    """``full``: also by capturing again; ``seen``: not at all, but each capture's digest is told."""

"""What a fix is: a name, a public cause, and three verbs. Imports no torch until a verb is used."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from guard.tracers.fixes.engagement import Engagement


@dataclass(frozen=True)
class Fix:
    """A defect of the installed torch that guard mends while it traces.

    The module is imported when a verb is called: on a torch whose private parts have moved that raises ImportError or
    AttributeError, which a probe turns into "cannot".
    """

    name: str
    cause: str
    """Public number, ``pytorch#93290``."""
    what: str
    """One line: what is promised."""
    module: str
    """Has ``apply()`` and ``plant()``."""
    programs: str
    """Has ``symptoms()``."""

    def probe(self) -> tuple[str, ...]:
        """Look for the defect in this process, under whatever is applied: a line for each symptom, none if right."""
        return cast("tuple[str, ...]", import_module(self.programs).symptoms())

    def apply(self) -> AbstractContextManager[Engagement]:
        """Mend while the block lasts; nothing changes where torch is right. Re-entrant."""
        return cast("AbstractContextManager[Engagement]", import_module(self.module).apply())

    def plant(self) -> AbstractContextManager[None]:
        """Put the defect back while the block lasts, fixes applied or not: for tests of guard itself."""
        return cast("AbstractContextManager[None]", import_module(self.module).plant())


FIXES = (
    Fix(
        "nested-isolation",
        "pytorch#93290",
        "a nested make_fx leaves no node, no proxy and no error in the outer graph",
        "guard.tracers.fixes.nested_isolation",
        "guard.tracers.fixes.nested_programs",
    ),
    Fix(
        "proxy-preservation",
        "pytorch#170467",
        "fresh tensors get proxies, and existing proxies are kept, while AOTAutograd replays copy_",
        "guard.tracers.fixes.proxy_preservation",
        "guard.tracers.fixes.preservation_programs",
    ),
)

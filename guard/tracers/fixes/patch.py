"""One replaced attribute of torch: installed while anybody needs it, restored when nobody does. Knows no fix."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOCK = threading.RLock()


class Patch:
    """Replace ``owner.name`` by ``make(original)``; a second user finds it installed, the last one out restores it."""

    def __init__(self, owner: Callable[[], Any], name: str, make: Callable[[Any], Any]) -> None:
        self._owner = owner
        self._name = name
        self._make = make
        self._users = 0
        self._original: Any = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Keep the replacement in place for the length of the block, whatever the block raises."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with _LOCK:
            if self._users == 0:
                owner = self._owner()
                self._original = getattr(owner, self._name)
                setattr(owner, self._name, self._make(self._original))
            self._users += 1

    def _leave(self) -> None:
        with _LOCK:
            self._users -= 1
            if self._users == 0:
                setattr(self._owner(), self._name, self._original)
                self._original = None


class Switch:
    """On while any block holds it, on every thread: the plants and the mends of this process."""

    def __init__(self) -> None:
        self._holders = 0

    def __bool__(self) -> bool:
        return self._holders > 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep it on for the length of the block."""
        with _LOCK:
            self._holders += 1
        try:
            yield
        finally:
            with _LOCK:
                self._holders -= 1

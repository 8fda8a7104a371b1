"""Which environment variables are asked for, while anybody listens: ``os.environ`` tells of no event by itself."""

from __future__ import annotations

import os
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


class Variables:
    """Hears of each variable that is asked for by name."""

    def __init__(self, heard: Callable[[FrameType, str], None]) -> None:
        self._heard = heard
        self._codecs: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None

    def listen(self) -> None:
        """Hear of them from now on."""
        if self._codecs is not None:
            return
        environ: Any = os.environ
        encode, decode = self._codecs = environ.encodekey, environ.decodekey
        walked: deque[str] = deque()

        def asked(name: Any) -> Any:
            # whoever copies all variables has their names decoded before it asks for the values, in their order
            if walked and walked[0] == name:
                walked.popleft()
            elif isinstance(name, str):
                walked.clear()
                self._heard(sys._getframe(1), name)  # noqa: SLF001 - the only way to the caller
            return encode(name)

        def met(name: Any) -> Any:
            walked.append(decode(name))
            return walked[-1]

        environ.encodekey, environ.decodekey = asked, met

    def rest(self) -> None:
        """Leave them as they were."""
        if self._codecs is not None:
            environ: Any = os.environ
            (environ.encodekey, environ.decodekey), self._codecs = self._codecs, None

"""argparse, as guard speaks: errors are a user's, with the nearest flag. Knows no verb."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Parser(argparse.ArgumentParser):
    """argparse, with its errors as UsageError and the nearest flag for an unknown one."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise UsageError(f"{self.prog}: {message}", f"{self.prog} --help")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse; flags and ids may be mixed in any order."""
        namespace, unknown = self.parse_known_intermixed_args(arguments)
        if not unknown:
            return namespace
        from difflib import get_close_matches

        flag = unknown[0].partition("=")[0]
        near = get_close_matches(flag, self._option_string_actions, n=1)
        tip = f'did you mean "{near[0]}"?' if near else f"{self.prog} --help"
        raise UsageError(f'{self.prog}: unknown {"flag" if flag.startswith("-") else "argument"} "{flag}"', tip)

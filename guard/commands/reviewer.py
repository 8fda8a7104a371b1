"""One review on a terminal: shows each cause, asks about each check, does at once what is answered."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from guard.baselines.accept import Accepted, reason_of
from guard.baselines.accept import accept as take
from guard.baselines.names import quoted
from guard.commands import keys
from guard.commands.accept import tell
from guard.commands.inbox import text_of
from guard.commands.reject import forget
from guard.errors import GuardError, UsageError
from guard.report.pending import render
from guard.report.terminal import clean

if TYPE_CHECKING:
    from guard.config import Config
    from guard.report.pending import Cause

KEYS = {"a": "accept", "r": "reject", "s": "skip", "g": "graph", "q": "quit"}
WORDS = {word: key for key, word in KEYS.items()} | {word.upper(): key.upper() for key, word in KEYS.items()}
FOR_ALL = ("A", "R", "S")


class Quit(Exception):  # noqa: N818 - it is no error: the answer was enough
    """The rest stays as it is."""


@dataclass
class Reviewer:
    """What was chosen so far."""

    config: Config
    color: bool
    in_ci: bool = False
    reason: str = ""
    """Given with the command; else policy may have it asked for."""
    accepted: Accepted = field(default_factory=Accepted)
    rejected: list[str] = field(default_factory=list)
    left: int = 0

    def review(self, causes: tuple[Cause, ...]) -> None:
        """Step through the causes.

        Raises:
            KeyboardInterrupt: Ctrl-C; what was chosen is done.
        """
        self.left = sum(len(cause.entries) for cause in causes)
        try:
            for number, cause in enumerate(causes, 1):
                print(f"\n({number}/{len(causes)}) {render(cause, color=self.color)}", end="")
                self._cause(cause.checks)
        except Quit:
            return

    def _cause(self, checks: tuple[str, ...]) -> None:
        while checks:
            key = self._ask(checks)
            if key == "g":
                print(clean(text_of(self.config, checks[0])), end="")
                continue
            chosen = checks if key in FOR_ALL else checks[:1]
            if self._do(key.lower(), chosen):
                checks = checks[len(chosen) :]

    def _ask(self, checks: tuple[str, ...]) -> str:
        """Ask until the answer is one."""
        most = f", A R S for all {len(checks)}" if len(checks) > 1 else ""
        prompt = f"{clean(quoted(checks[0]))}: [a]ccept [r]eject [s]kip{most}, [g]raph [q]uit? "
        while True:
            answer = keys.ask(prompt, os.environ)
            key = WORDS.get(answer, answer)
            if key in ("q", "Q", keys.END):
                raise Quit
            if key in (*KEYS, *FOR_ALL):
                return key
            print("a: it becomes the baseline; r: it is forgotten; s: it waits; g: show its graphs; q: leave the rest")

    def _do(self, key: str, checks: tuple[str, ...]) -> bool:
        """Do what was chosen; False where it was taken back."""
        if key == "a":
            return self._accept(checks)
        if key == "r":
            forget(self.config, checks)
            self.rejected += checks
            print("".join(f"rejected: {quoted(check)}\n" for check in checks), end="")
            self.left -= len(checks)
        return True

    def _accept(self, checks: tuple[str, ...]) -> bool:
        try:
            reason = reason_of(self.config, self.reason or self._why())
            done = take(self.config, checks, in_ci=self.in_ci, reason=reason)
        except GuardError as error:
            # nothing was written: whoever sits here can mend it, and what was chosen before stays chosen
            print(f"not accepted: {error if isinstance(error, UsageError) else error.problem}", file=sys.stderr)
            return False
        tell(done)
        self.accepted += done
        self.left -= len(done.settled)
        return True

    def _why(self) -> str:
        if self.config.reasons != "required":
            return ""
        answer = keys.line("why? ")
        return "" if answer == keys.END else answer

"""One capture against its mutants and rewrites: each is lowered, printed and judged as ``guard check`` would."""

from __future__ import annotations

import contextlib
import importlib
import traceback
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from guard.ir.printer import print_program
from guard.session.judge import judge
from tests.sensitivity import rewrite, rivals
from tests.sensitivity.table import KINDS, REWRITES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.ir.graph import Program
    from tests.sensitivity.draft import Draft
    from tests.sensitivity.table import Kind, Rewrite

    Named = TypeVar("Named", Kind, Rewrite)
ROOMS = ("structure", "constant", "types", "signature", "mutation", "collective", "order", "specialization", "leak")


def mutator(name: str) -> Callable[[Draft, Random], bool]:
    """Find a mutator by its name in the table."""
    rooms = (importlib.import_module(f"tests.sensitivity.mutate.{room}") for room in ROOMS)
    found: Callable[[Draft, Random], bool] = next(vars(room)[name] for room in rooms if name in vars(room))
    return found


@dataclass(frozen=True)
class Settings:
    """How much is tried."""

    each: int = 2
    """Tries of each mutator on each capture: so many that there are 5,000 mutants."""
    rewrites: int = 3
    """And 2,000 rewrites."""
    seed: int = 0
    only: tuple[str, ...] = ()
    """Names of mutators and rewrites; none is all."""

    def of(self, table: tuple[Named, ...]) -> tuple[Named, ...]:
        """Choose rows of a table."""
        return tuple(row for row in table if not self.only or row.name in self.only)


@dataclass(frozen=True)
class Seen:
    """What came of one mutant or rewrite."""

    name: str
    check: str
    seed: int
    classes: tuple[str, ...]
    """Of guard's findings; none where it holds."""
    rivals: dict[str, str]
    """What each of them says of it and its baseline; nothing where only guard has such a form."""


@dataclass
class Tally:
    """Everything that one run saw."""

    mutants: list[Seen] = field(default_factory=list)
    rewrites: list[Seen] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """What raised: a fault of the suite, or of lowering."""
    captures: int = 0


class Baseline(NamedTuple):
    """What a mutant is compared with."""

    text: bytes
    views: dict[str, Any]
    """Of the rivals."""

    @classmethod
    def of(cls, draft: Draft) -> Baseline:
        return cls(print_program(draft.lowered()).encode(), rivals.views(draft))


class Bench:
    """One run's settings, and what it saw so far."""

    def __init__(self, tally: Tally, settings: Settings) -> None:
        self._tally = tally
        self._settings = settings
        self._known: set[str] = set()

    def look(self, draft: Draft, captured: Program) -> None:
        """Try everything on a check's first capture; the draft itself is not changed."""
        if draft.check in self._known:
            return
        self._known.add(draft.check)
        self._tally.captures += 1
        baseline = Baseline.of(draft.copy())
        if baseline.text != print_program(captured).encode():
            self._tally.failures.append(f"{draft.check}: a copy is lowered to another text")
        for kind in self._settings.of(KINDS):
            self._mutate(kind, draft, baseline)
        for one in self._settings.of(REWRITES):
            self._rewrite(one, draft, baseline)

    def _mutate(self, kind: Kind, draft: Draft, baseline: Baseline) -> None:
        known: set[tuple[bytes, str]] = set()
        for number in range(self._settings.each):
            mutant, random = draft.copy(), self._random(kind.name, draft, number)
            with self._reported(f"{kind.name} {draft.check} {number}"):
                if not mutator(kind.name)(mutant, random):
                    continue
                current = mutant.lowered()
                against = baseline if mutant.base is None else Baseline.of(mutant.base)
                both = against.text, print_program(current)
                if both not in known:  # else the same place was drawn again
                    known.add(both)
                    told = rivals.told(against.views, rivals.views(mutant))
                    self._tally.mutants.append(_seen(kind.name, number, current, against.text, told))

    def _rewrite(self, one: Rewrite, draft: Draft, baseline: Baseline) -> None:
        function: Any = getattr(rewrite, one.name)
        for number in range(1 if one.once else self._settings.rewrites):
            copy, random = draft.copy(), self._random(one.name, draft, number)
            with self._reported(f"{one.name} {draft.check} {number}"):
                text, told = baseline.text, {}
                current: Program | None
                if one.level == "text":
                    current, text = copy.lowered(), function(text, random)
                elif one.level == "program":
                    current = function(copy.lowered(), random)
                else:
                    current = copy.lowered() if function(copy, random) else None
                    told = rivals.told(baseline.views, rivals.views(copy))
                if current is not None:  # else there is nothing to rewrite
                    self._tally.rewrites.append(_seen(one.name, number, current, text, told))

    def _random(self, name: str, draft: Draft, number: int) -> Random:
        return Random(f"{self._settings.seed} {name} {draft.check} {number}")  # noqa: S311 - no secret

    @contextlib.contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - told at the end, where it fails the proof
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename}:{last.lineno}"
            self._tally.failures.append(f"{what}: {type(error).__name__}: {str(error)[:200]} ({where})")


def _seen(name: str, number: int, current: Program, baseline: bytes, told: dict[str, str]) -> Seen:
    findings = judge(current, print_program(current), baseline, "baseline.graph")
    return Seen(name, current.check, number, tuple(found.drift or found.kind for found in findings), told)

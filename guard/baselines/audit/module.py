"""What a check module defines: pure data, and whether a baseline's check is among it. Knows no syntax."""

from __future__ import annotations

from typing import NamedTuple

from guard.baselines.names import strip


class Test(NamedTuple):
    """A function, with its classes before it: ``TestStep.test_forward``."""

    name: str
    line: int
    asks: tuple[str, ...]
    """Its parameters, which are fixtures or parametrized."""
    certain: bool
    """Nothing that it says skips it, and pytest collects it as it comes."""


class Source(NamedTuple):
    """One module."""

    tests: tuple[Test, ...] = ()
    names: tuple[str, ...] = ()
    """What else may be a test or a class of tests: imported, assigned, or a class with bases of elsewhere."""
    fixtures: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Name and parameters of each fixture that it defines."""
    open: bool = False
    """Names may come from anywhere: a star import, ``globals()``."""
    skips: bool = False
    """The module as a whole says that it may be skipped."""
    hooks: bool = False
    """Something in it may keep tests from running: of a conftest, those of other modules."""
    problem: tuple[int, str] | None = None
    """Line and message where it does not parse."""


def plain(source: Source) -> list[object]:
    """Return what JSON carries."""
    return list(source)


def from_plain(data: list[object]) -> Source:
    """Inverse of ``plain``, from lists."""
    tests, names, fixtures, open_, skips, hooks, problem = data
    return Source(
        tuple(Test(name, line, tuple(asks), certain) for name, line, asks, certain in tests),  # type: ignore[attr-defined]
        tuple(names),  # type: ignore[arg-type]
        tuple((name, tuple(asks)) for name, asks in fixtures),  # type: ignore[attr-defined]
        bool(open_),
        bool(skips),
        bool(hooks),
        None if problem is None else tuple(problem),  # type: ignore[arg-type]
    )


class Defined:
    """The functions that a module has, or may have."""

    def __init__(self, source: Source) -> None:
        self._open = source.open
        self._names = frozenset(source.names)
        self._tests = frozenset(stripped(test.name) for test in source.tests)

    def has(self, function: str) -> bool:
        """Tell whether the module has a function, given as ids have it; yes where it is not sure."""
        if self._open or function in self._tests:
            return True
        head, dot, last = function.rpartition(".")
        if function in self._names or f"{head}{dot}test_{last}" in self._names:
            return True
        # a class with bases of elsewhere may inherit the function, an imported one may have it
        parts = function.split(".")
        return any(".".join(parts[:size]) in self._names for size in range(1, len(parts)))


def stripped(function: str) -> str:
    """Return a function as ids have it: ``TestStep.test_forward`` is ``TestStep.forward``."""
    head, dot, last = function.rpartition(".")
    return f"{head}{dot}{strip(last)}"

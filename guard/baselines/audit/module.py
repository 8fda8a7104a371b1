"""What a check module defines: pure data, and whether a baseline's check is among it. Knows no syntax."""

from __future__ import annotations

from typing import NamedTuple


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


def defines(source: Source, function: str) -> bool:
    """Tell whether a module has a function, given with its classes, without ``test_``; yes where it is not sure."""
    head, dot, last = function.rpartition(".")
    spelled = {function, f"{head}{dot}test_{last}"}
    parts = function.split(".")
    # a class with bases of elsewhere may inherit the function, an imported one may have it
    prefixes = {".".join(parts[: place + 1]) for place in range(len(parts) - 1)}
    tests = {test.name for test in source.tests}
    return source.open or not (spelled | prefixes).isdisjoint(source.names) or not spelled.isdisjoint(tests)

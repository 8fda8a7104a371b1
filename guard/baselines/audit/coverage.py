"""Baselines without a check, and checks without a baseline, by functions: parameters are pytest's to know."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.audit.fault import Fault
from guard.baselines.audit.module import Defined, stripped
from guard.baselines.audit.texts import function_of
from guard.baselines.names import COST_SUFFIX, SUFFIX, module_of, quoted, short_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.baselines.audit.module import Source, Test
    from guard.baselines.audit.tree import Tree

FIXTURE = "guard"


class Held(NamedTuple):
    """One baseline."""

    check: str
    path: str
    """Relative to the project's root."""


class Home(NamedTuple):
    """Where a baseline's check is."""

    held: Held
    module: str | None
    """Path of the module that has its function; "" where that does not parse, None where there is none."""
    why: str = ""
    """Why there is none."""


def homes(tree: Tree, held: Iterable[Held]) -> Iterator[Home]:
    """Find the check of each baseline."""
    for module, group in groupby(sorted(held), lambda one: function_of(one.check)[0]):
        found = tree.module(module)
        if found is None:
            yield from (Home(one, None, f"its module {module} is gone") for one in group)
            continue
        path, source = found
        defined = Defined(source)
        for one in group:
            function = function_of(one.check)[1]
            if source.problem is not None:
                yield Home(one, "")
            elif defined.has(function):
                yield Home(one, path)
            else:
                yield Home(one, None, f'"{path}" has no {function}')


def orphans(found: Iterable[Home]) -> Iterator[Fault]:
    """Yield the baselines whose function is gone; one that may come from elsewhere is not."""
    for (check, path), module, why in found:
        if module is None:
            yield Fault(path, 2, "orphan", f"{quoted(check)} has no check: {why}", f"git rm -- {shlex.quote(path)}")


def alone(paths: Iterable[str]) -> Iterator[Fault]:
    """Yield the costs whose graph is gone: nothing compares them."""
    there = frozenset(paths)
    for path in sorted(there):
        if path.endswith(COST_SUFFIX) and path.removesuffix(COST_SUFFIX) + SUFFIX not in there:
            yield Fault(path, 1, "orphan", "there is no graph beside this trace cost", f"git rm -- {shlex.quote(path)}")


def missing(tree: Tree, held: Sequence[Held], prefix: str) -> Iterator[Fault]:
    """Yield the tests that use guard, are sure to run, and have no baseline; and the modules that do not parse.

    Args:
        tree: the check modules.
        held: the baselines.
        prefix: ``Config.checks_prefix``.
    """
    recorded = {function_of(one.check) for one in held}
    for path, source in tree.tests():
        if source.problem is not None:
            line, said = source.problem
            yield Fault(path, line, "module", f"does not parse: {said}", f"python -m py_compile {shlex.quote(path)}")
            continue
        conftests = tuple(tree.conftests(path))
        if source.skips or any(one.hooks for one in conftests):
            continue
        module = module_of(short_id(f"{path}::test", prefix))
        for test in _guarded(source, conftests):
            if (module, stripped(test.name)) not in recorded:
                check = f"{module}::{stripped(test.name)}"
                problem = f"{quoted(check)} uses guard and has no baseline"
                yield Fault(path, test.line, "missing", problem, f"guard update {quoted(check)}")


def _guarded(source: Source, conftests: tuple[Source, ...]) -> Iterator[Test]:
    """Yield the tests that get the fixture, straight or through fixtures that are defined here."""
    fixtures = {name: asks for one in (*conftests, source) for name, asks in one.fixtures}
    last: dict[str, Test] = {test.name: test for test in source.tests}  # a second definition replaces the first
    for test in last.values():
        if test.certain and _reaches(test.asks, fixtures):
            yield test


def _reaches(asks: tuple[str, ...], fixtures: dict[str, tuple[str, ...]]) -> bool:
    seen: set[str] = set()
    waiting = list(asks)
    while waiting:
        name = waiting.pop()
        if name in seen:
            if name == FIXTURE:  # the project's own ``guard``, which is made of guard's
                return True
            continue
        if name == FIXTURE and name not in fixtures:
            return True
        seen.add(name)
        waiting += fixtures.get(name, ())
    return False

"""Baselines whose check is gone."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from guard.baselines.costs import cost_of
from guard.baselines.meta import Meta
from guard.baselines.names import COST_SUFFIX, SUFFIX, module_of, quoted, tests_of
from guard.baselines.pending import digest, write_pending
from guard.baselines.store import Store
from guard.environment import torch_version
from guard.errors import GuardError
from guard.findings import Finding, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from guard.config import Config


def orphans(config: Config, known: Iterable[str], outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Return an outcome for each baseline that no check claims, and leave its removal for ``guard accept``.

    Args:
        config: the project.
        known: short ids of all tests, from a full collection.
        outcomes: of a full run. A test that did not end well may not have reached all of its calls.
    """
    claimed = {outcome.check for outcome in outcomes} | set(known)
    unsure = {outcome.check for outcome in outcomes if outcome.findings or outcome.skipped is not None}
    unsure |= {test for check in unsure for test in tests_of(check)}
    store = Store(config)
    found: list[Outcome] = []
    for entry in store.entries():
        shown = store.shown(entry.path)
        if entry.check is None or entry.problem is not None:
            finding = Finding(
                "orphan", entry.check or shown, entry.problem or f'"{shown}" names no check', source=shown
            )
            found.append(Outcome(entry.check or "", shown, (finding,)))
        elif entry.check not in claimed and unsure.isdisjoint((*tests_of(entry.check), module_of(entry.check))):
            found.append(_orphan(config, entry.check, shown))
    graphs = {store.shown(entry.path).removesuffix(SUFFIX) for entry in store.entries()}
    for path in store.costs():
        shown = store.shown(path)
        if shown.removesuffix(COST_SUFFIX) not in graphs:
            found += _lone_cost(store, path, claimed, unsure)
    return tuple(found)


def _lone_cost(store: Store, path: Path, claimed: set[str], unsure: set[str]) -> Iterator[Outcome]:
    """Yield an outcome for a trace cost without a graph, unless its check is about to record one."""
    shown = store.shown(path)
    named = cost_of(path)
    if named is None or store.cost_path(named) != path:
        problem = f'"{shown}" is no check\'s trace cost'
        yield Outcome("", shown, (Finding("orphan", shown, problem, fix=f"git rm -f -- {shlex.quote(shown)}"),))
    elif named not in claimed and unsure.isdisjoint((*tests_of(named), module_of(named))):
        yield _orphan(store.config, named, shown)


def _orphan(config: Config, check: str, shown: str) -> Outcome:
    finding = Finding("orphan", check, "a baseline without a check", fix=f"guard accept {quoted(check)}", source=shown)
    baseline = Store(config).read(check)
    meta = Meta(torch_version(), None if baseline is None else digest(baseline), action="remove")
    try:
        pending = write_pending(config, check, None, meta)
    except GuardError:
        return Outcome(check, shown, (finding,), notes=("its removal could not be left for guard accept",))
    return Outcome(check, shown, (finding,), pending=pending)

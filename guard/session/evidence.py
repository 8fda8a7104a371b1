"""Attach to each drift what git knows of its cause: once a run, for the checks that need it. Never fails a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from guard import environment
from guard.baselines import history
from guard.baselines.git import GitError
from guard.baselines.names import quoted
from guard.baselines.pending import Pending, read_pending
from guard.baselines.store import Store
from guard.drift import cause, trial
from guard.drift.cause import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from guard.baselines.history import Repository
    from guard.config import Config
    from guard.environment import Environment
    from guard.findings import Finding, Outcome

# What differs from a baseline: somebody moved it
MOVED = frozenset(("drift", "error", "works"))


def attach(
    config: Config, outcomes: Sequence[Outcome], now: Environment
) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
    """Return the outcomes with evidence, and notes on why there is none."""
    checks = [outcome.check for outcome in outcomes if is_moved(outcome)]
    if not checks:
        return tuple(outcomes), ()
    try:
        found = gather(config, checks, now)
    except GitError as error:
        return tuple(outcomes), (f"who moved them is not known: {_sentence(error)}",)
    return tuple(_told(outcome, found.get(outcome.check)) for outcome in outcomes), ()


def is_moved(outcome: Outcome) -> bool:
    """Tell whether what a check captured differs from its baseline."""
    return any(finding.kind in MOVED for finding in (*outcome.findings, *outcome.warned))


def gather(config: Config, checks: Sequence[str], now: Environment) -> dict[str, Evidence]:
    """Ask git about checks whose captures wait in the pending folder.

    Raises:
        GitError: It cannot tell.
    """
    repository = history.open_repository(config.root)
    store = Store(config)
    paths = {check: store.shown(store.path(check)) for check in checks}
    last = history.last_changes(repository, tuple(paths.values()))
    commits = {check: last.get(path, repository.head) for check, path in paths.items()}
    sources = {check: _sources(config, check) for check in checks}
    asked = _Asked(config, repository, now, {source for found in sources.values() for source in found})
    asked.ask(set(commits.values()))
    return {check: asked.evidence(commits[check], sources[check], committed=paths[check] in last) for check in checks}


class _Asked:
    """What git answered for the commits of one run."""

    def __init__(self, config: Config, repository: Repository, now: Environment, sources: Iterable[str]) -> None:
        self._config, self._repository, self._now = config, repository, now
        self._new = history.untracked(repository) | (history.untracked(repository, sources) if sources else frozenset())
        self._then: dict[str, Environment | None] = {}
        self._changed: dict[str, frozenset[str]] = {}

    def ask(self, commits: Iterable[str]) -> None:
        recorded = Store(self._config).shown(self._config.baselines / environment.FILE)
        for commit, text in history.texts(self._repository, recorded, commits).items():
            self._then[commit] = environment.parse(text) if text is not None else None
            self._changed[commit] = history.changed_since(self._repository, commit) | self._new

    def evidence(self, commit: str, sources: tuple[str, ...], *, committed: bool) -> Evidence:
        changed = self._changed[commit]
        return Evidence(
            commit=commit,
            now=self._now,
            then=self._then[commit] if committed else _on_disk(self._config),
            sources=sources,
            moved=moved(sources, changed),
            others=others(self._config, sources, changed),
            committed=committed,
            shallow=committed and commit in self._repository.boundary,
        )


def moved(sources: Sequence[str], changed: frozenset[str]) -> tuple[str, ...]:
    """Return the sources that changed; a folder among the changed is a submodule, whose files are not told apart."""
    return tuple(source for source in sources if changed & {source, *_folders(source)})


def others(config: Config, sources: Sequence[str], changed: frozenset[str]) -> tuple[str, ...]:
    """Return the other Python files that changed, but for modules of other checks: nothing imports those."""
    checks = f"{config.checks_prefix}/"
    python = (path for path in changed if path.endswith(".py") and path not in sources)
    return tuple(sorted(path for path in python if not (path.startswith(checks) and _is_test(path))))


def _told(outcome: Outcome, evidence: Evidence | None) -> Outcome:
    """Give every finding its cause, and the first of them the lines: they speak of the check."""
    if evidence is None:
        return outcome
    lines = cause.lines(evidence, trial.command(evidence, quoted(outcome.check)))
    return with_cause(outcome, cause.verdict(evidence), lines)


def with_cause(outcome: Outcome, by: cause.Cause, lines: tuple[str, ...]) -> Outcome:
    """Return an outcome whose moved findings have a cause, the first of them with its evidence too."""
    evidence = iter((lines,))  # said once

    def told(finding: Finding) -> Finding:
        return replace(finding, by=by, evidence=next(evidence, ())) if finding.kind in MOVED else finding

    return replace(
        outcome,
        findings=tuple(map(told, outcome.findings)),
        warned=tuple(map(told, outcome.warned)),
        ignored=tuple(map(told, outcome.ignored)),
    )


def _sources(config: Config, check: str) -> tuple[str, ...]:
    found = read_pending(config, check)
    return tuple(dict(found.meta.sources)) if isinstance(found, Pending) else ()


def _on_disk(config: Config) -> Environment | None:
    try:
        return environment.parse((config.baselines / environment.FILE).read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def _folders(source: str) -> list[str]:
    parts = source.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def _sentence(error: GitError) -> str:
    return error.problem if error.tip is None else f"{error.problem}; {error.tip}"

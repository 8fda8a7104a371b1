"""The one writer of ``baselines/``: takes pending captures, under a lock, whole files only. Judges no graph."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from guard import environment
from guard.baselines import pending, reasons
from guard.baselines.disk import drop_leftovers, open_state, write_whole
from guard.baselines.names import quoted
from guard.baselines.pending import Broken, Pending
from guard.baselines.store import Store
from guard.baselines.take import plan
from guard.errors import GuardError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from guard.baselines.take import Plan
    from guard.config import Config

LOCK_SECONDS = 60.0
NOT_CI = ("", "0", "false", "no", "off")
SHOWN_SOURCES = 3


@dataclass(frozen=True)
class Accepted:
    """What an accept did. Paths are relative to the root."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    """Checks whose pending file is used up, in the order of the request."""
    refused: tuple[str, ...] = ()
    """A sentence a refusal; what it speaks of is as it was before."""
    warnings: tuple[str, ...] = ()

    def __add__(self, other: Accepted) -> Accepted:
        """Join two results, in order."""
        return Accepted(*(mine + theirs for mine, theirs in zip(_fields(self), _fields(other), strict=True)))


def _fields(accepted: Accepted) -> tuple[tuple[str, ...], ...]:
    return accepted.written, accepted.removed, accepted.settled, accepted.refused, accepted.warnings


def refuse_in_ci(environ: Mapping[str, str], *, in_ci: bool) -> None:
    """Keep a CI job from blessing what it saw.

    Raises:
        GuardError: CI is set in the environment, and the user did not ask for it.
    """
    if not in_ci and environ.get("CI", "").lower() not in NOT_CI:
        raise GuardError(
            f'baselines are not written in CI ("CI" is {environ["CI"]!r}): a person reviews them',
            "run it on your machine, or pass --in-ci",
        )


def accept(
    config: Config,
    checks: Sequence[str],
    *,
    in_ci: bool = False,
    environ: Mapping[str, str] | None = None,
    reason: str = "",
) -> Accepted:
    """Make what waits for each check its baseline; each is taken or refused by itself.

    Refused: nothing waits, the pending file is broken, it was captured with fixes off, the baseline has moved since, or
    the disk does not take it.

    Args:
        config: the project.
        checks: their ids.
        in_ci: write although CI is set.
        environ: in place of the process's.
        reason: why; it is recorded beside the baselines, and without one the checks' older reasons go.

    Raises:
        GuardError: In CI, policy wants a reason, another accept holds the lock, or the state folder cannot be written;
            nothing is lost.
    """
    refuse_in_ci(os.environ if environ is None else environ, in_ci=in_ci)
    reason = reason_of(config, reason)
    done = Accepted()
    with _locked(config):
        drop_leftovers(config.baselines)
        _read_reasons(config)  # one that does not read is told before anything is written
        for check in checks:
            done += _accept_or_refuse(config, check, reason)
    return done


def reason_of(config: Config, text: str) -> str:
    """Return a reason as it is recorded, "" for none.

    Raises:
        UsageError: Policy wants one, or it is no printable line.
    """
    if not text and config.reasons == "required":
        raise UsageError('accept why? [tool.guard.policy] has reasons = "required"', 'pass --reason "why"')
    return reasons.checked(text) if text else ""


@contextmanager
def _locked(config: Config) -> Iterator[None]:
    try:
        lock = FileLock(open_state(config.state) / "lock", timeout=LOCK_SECONDS)
        with lock:
            yield
    except Timeout as error:
        raise GuardError(f"another guard is writing baselines for {LOCK_SECONDS:.0f} s", "try again") from error
    except OSError as error:
        path = error.filename or config.state
        raise GuardError(f'"{path}" cannot be written: {error.strerror}', "nothing was lost: try again") from error


def _accept_or_refuse(config: Config, check: str, reason: str) -> Accepted:
    """Accept one; what the disk does to it is its own refusal, so that what was written before it is still reported."""
    try:
        return _accept_one(config, check, reason)
    except GuardError as error:
        return _refused(check, error.problem, f"guard accept {quoted(check)}")
    except OSError as error:
        why = f'"{_blamed(config, check, error)}" cannot be written: {error.strerror}'
        return _refused(check, why, f"guard accept {quoted(check)}")


def _blamed(config: Config, check: str, error: OSError) -> str:
    """Return the file that could not be written as messages print it: the baseline, or one that goes with it."""
    path = Path(error.filename or Store(config).path(check))
    return Store(config).shown(path) if path.is_relative_to(config.root) else str(path)


def _accept_one(config: Config, check: str, reason: str) -> Accepted:
    found = pending.read_pending(config, check)
    if found is None:
        return _refused(check, "nothing waits for it", "guard check")
    if isinstance(found, Broken):
        return _refused(check, f"its pending file is not right: {found.problem}", f"guard check {quoted(check)}")
    store = Store(config)
    planned = plan(store, found)
    if planned.refusal is not None:
        return _refused(check, planned.refusal, f"guard check {quoted(check)}")
    return _take(store, found, planned, reason)


def _refused(check: str, why: str, fix: str) -> Accepted:
    return Accepted(refused=(f"{quoted(check)}: {why}; run: {fix}",))


def _take(store: Store, found: Pending, planned: Plan, reason: str) -> Accepted:
    config = store.config
    warnings = tuple(f"{text}; run: guard check {quoted(found.check)}" for text in moved_sources(config, found))
    planned.carry_out(config.baselines)
    written = tuple(store.shown(path) for path, data in planned.writes if data is not None)
    removed = tuple(store.shown(path) for path, data in planned.writes if data is None)
    said = warnings if planned.writes else ()  # an accept that was killed after its write, or the same capture twice
    return Accepted(written=written, removed=removed, warnings=said) + _settle(config, found, reason)


def _settle(config: Config, found: Pending, reason: str) -> Accepted:
    """Finish what a written baseline began; after a kill the pending file is there to do it again."""
    # a trace cost that is accepted without a reason leaves the graph's standing
    kept = found.meta.action == "cost" and not reason
    recorded = () if kept else _record_reason(config, found.check, reason)
    recorded += () if found.text is None else _record_environment(config, found)
    pending.drop_pending(config, found.check)
    return Accepted(written=recorded, settled=(found.check,))


def _record_reason(config: Config, check: str, reason: str) -> tuple[str, ...]:
    """Write the check's reason in place of that of its last accept; return the file's path if it changed."""
    before = _read_reasons(config)
    if before.get(check, "") == reason:
        return ()
    others = {other: why for other, why in before.items() if other != check}
    path = config.baselines / reasons.FILE
    write_whole(path, reasons.dump(others | {check: reason} if reason else others))
    return (Store(config).shown(path),)


def _read_reasons(config: Config) -> dict[str, str]:
    return reasons.read(config.baselines, Store(config).shown(config.baselines / reasons.FILE))


def moved_sources(config: Config, found: Pending) -> tuple[str, ...]:
    """Return a sentence where sources have changed since the capture, else nothing."""
    wanted = dict(found.meta.sources)
    now = pending.digests(config.root, wanted)
    moved = [source for source, digest in wanted.items() if now.get(source) != digest]
    if not moved:
        return ()
    names = ", ".join(moved[:SHOWN_SOURCES]) + (" ..." if len(moved) > SHOWN_SOURCES else "")
    return (f"{quoted(found.check)} was captured before {names} changed",)


def _record_environment(config: Config, found: Pending) -> tuple[str, ...]:
    """Write environment.toml where it is missing or of another torch or device; return its path if written.

    Python and platform follow only then: a colleague's laptop is no reason for a diff.
    """
    path = config.baselines / environment.FILE
    try:
        before = environment.parse(path.read_text("utf-8"))
    except (FileNotFoundError, UnicodeDecodeError):
        before = None
    if before is not None and (before.torch, before.device) == (found.meta.torch, found.meta.device):
        return ()
    here = environment.current(found.meta.device)
    made = {"python": found.meta.python or here.python, "platform": found.meta.platform or here.platform}
    now = replace(here, torch=found.meta.torch, **made)
    write_whole(path, environment.dump(now).encode())
    return (path.relative_to(config.root).as_posix(),)

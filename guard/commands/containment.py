"""Say why a worker died, from its exit status, its breadcrumb and its stacks: the result that it could not report."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.baselines.names import quoted, short_id
from guard.commands.stacks import innermost, timed_out, user_line
from guard.findings import Finding, Outcome
from guard.session.watch import Crumb, read_crumb, read_stacks

if TYPE_CHECKING:
    from pathlib import Path

    from guard.config import Config

# Seconds. A worker whose pipe has closed is ending, its status is there at once; one that lives on is killed.
END = 10.0
STOPPED = "stopped"


def exit_status(node: Any) -> int | str | None:
    """Return a dead worker's status, negative for a signal; None where it is not known.

    A worker that said goodbye in the middle of a test is STOPPED, whether it has ended or not.

    xdist does not say it; execnet keeps the process in a private place.
    """
    if hasattr(node, "workeroutput"):
        return STOPPED
    try:
        process: subprocess.Popen[bytes] = node.gateway._io.popen  # noqa: SLF001 - see above
    except AttributeError:
        return None
    try:
        return process.wait(END)
    except subprocess.TimeoutExpired:
        process.kill()
        return None


def import_finding(config: Config, folder: Path, node: Any) -> Finding | None:
    """Return what a worker that died before it ran a test died of; None where it died later."""
    worker = node.gateway.id
    crumb = read_crumb(folder, worker) or Crumb("", "starting", time.time())
    if crumb.phase not in {"importing", "starting"}:
        return None
    death = _Death(crumb, read_stacks(folder, worker), exit_status(node))
    return _finding("import", crumb.nodeid or config.checks_prefix, death, config)


def crash_outcome(config: Config, folder: Path, node: Any, nodeid: str) -> Outcome:
    """Return the outcome of a test whose worker died in it."""
    worker, status = node.gateway.id, exit_status(node)
    crumb = read_crumb(folder, worker) or Crumb(nodeid, "running", time.time())
    death = _Death(crumb, read_stacks(folder, worker), status)
    check = short_id(nodeid, config.checks_prefix)
    kind = "timeout" if timed_out(death.stacks) else "crash"
    finding = _finding(kind, check, death, config)
    return Outcome(check, nodeid, (finding,), seconds=max(0.0, time.time() - crumb.started))


class _Death(NamedTuple):
    """What is known of a dead worker."""

    crumb: Crumb
    stacks: str
    status: int | str | None


def _finding(kind: str, subject: str, death: _Death, config: Config) -> Finding:
    # waiting: between tests, or on the way out of one
    title = _what(death) if death.crumb.phase == "waiting" else f"{_what(death)} while {death.crumb.phase}"
    lines = tuple(f"in {frame}" for frame in innermost(death.stacks, config.root))
    fix = None if kind == "import" else f"guard check --pdb {quoted(subject)}"
    return Finding(kind, subject, title, lines, fix, user_line(death.stacks, config.root))


def _what(death: _Death) -> str:
    if death.status == STOPPED:
        return "a KeyboardInterrupt or pytest.exit ended its worker"
    if timed_out(death.stacks):
        return f"no end after {death.crumb.limit:g} s, and no return to Python,"
    if death.status is None:
        return "the connection to its worker was lost"
    if isinstance(death.status, str) or death.status >= 0:
        return f"exit {death.status} without a result"
    name = _signal_name(-death.status)
    return f"{name} (out of memory?)" if name == "SIGKILL" else name


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

"""Read one phase of one test from pytest's report: why it did not pass, and at which line of the user's."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import guard
from guard.errors import GuardError, TorchMissingError
from guard.session.failure import CheckFailed
from guard.session.settle import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

# pytest_timeout.PYTEST_FAILURE_MESSAGE starts so since 1.0
TIMEOUT = "Timeout ("
BODY = 6  # lines of a message after its first: the rest is in pytest's own report
PACKAGE = Path(guard.__file__).parent
# the narrowest first: site-packages lies below the standard library
INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib"))


def seen(call: pytest.CallInfo[None], report: pytest.TestReport, root: Path, source: str, doing: str) -> Seen:
    """Describe a phase.

    Args:
        call: pytest's record of the phase, with the exception.
        report: what pytest makes of it: an expected failure is a skip.
        root: what paths are printed relative to.
        source: ``path:line`` of the test, where nothing nearer is known.
        doing: what guard was doing, as in ``while tracing``.
    """
    phase = Seen(report.when, report.outcome, source=source, seconds=report.duration)
    expected = getattr(report, "wasxfail", None)
    if report.skipped and expected is not None:
        return phase._replace(kind="xfail", title=str(expected).removeprefix("reason: ") or "no reason")
    if report.skipped:
        return phase._replace(title=_skip_reason(report))
    if report.passed:
        return phase
    return _failure(phase, call, report, root, doing)


def _failure(phase: Seen, call: pytest.CallInfo[None], report: pytest.TestReport, root: Path, doing: str) -> Seen:
    error = call.excinfo.value if call.excinfo is not None else None
    where = user_line(call.excinfo, root) or phase.source
    if isinstance(error, CheckFailed):
        return phase._replace(kind="check")
    if isinstance(error, GuardError):
        kind: Literal["import", "refused"] = "import" if isinstance(error, TorchMissingError) else "refused"
        return phase._replace(kind=kind, title=error.problem, fix=error.tip, source=where)
    if isinstance(error, pytest.fail.Exception) and str(error).startswith(TIMEOUT):
        limit = str(error)[len(TIMEOUT) :].partition(")")[0].removeprefix(">").removesuffix("s")
        return phase._replace(kind="timeout", title=f"no end after {_seconds(limit)} s while {doing}", source=where)
    title, *lines = _message(error, report)
    during = "" if report.when == "call" else f"while {'setting up' if report.when == 'setup' else 'tearing down'}: "
    return phase._replace(title=f"{during}{title}", source=where, lines=tuple(lines[:BODY]))


def user_line(excinfo: pytest.ExceptionInfo[BaseException] | None, root: Path) -> str | None:
    """Return the innermost ``path:line`` of the project's own code, None where there is none."""
    return next(_user_lines(excinfo, root), None) if excinfo is not None else None


def _user_lines(excinfo: pytest.ExceptionInfo[BaseException], root: Path) -> Iterator[str]:
    for entry in reversed(excinfo.traceback):
        path = Path(entry.path)
        if path.is_relative_to(root) and not is_foreign(path):
            yield f"{path.relative_to(root).as_posix()}:{entry.lineno + 1}"


def is_foreign(path: Path) -> bool:
    """Return whether a file is guard's, the standard library's or an installed package's: no line of the user's."""
    return any(path.is_relative_to(folder) for folder in (PACKAGE, *INSTALLED)) or "site-packages" in path.parts


def _message(error: BaseException | None, report: pytest.TestReport) -> list[str]:
    """Return the lines of the short message: pytest's, which has the values of an assertion."""
    crash: Any = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr or error)
    return [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]


def _skip_reason(report: pytest.TestReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def _seconds(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return text

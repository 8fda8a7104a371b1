"""From an exception to a CaptureError: pure, given the exception and its traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.errors import GuardError
from guard.ir.graph import CaptureError
from guard.tracers.errors.causes import find_cause
from guard.tracers.errors.chain import members, read_chain
from guard.tracers.errors.fingerprint import fingerprint
from guard.tracers.errors.kinds import match
from guard.tracers.errors.places import place
from guard.tracers.errors.telling import telling_line
from guard.tracers.errors.user_line import find_user_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.tracers.errors.chain import Link

# They wrap another exception and say nothing of their own.
_WRAPPERS = {
    f"torch._dynamo.exc.{n}" for n in ("BackendCompilerFailed", "InternalTorchDynamoError", "TorchRuntimeError")
}
# By name, so that nothing is imported to ask. pytest's skip and fail, and pytest-timeout's end of a test, are outcomes.
_OUTCOMES = {
    "_pytest.outcomes.OutcomeException",
    "_pytest.outcomes.Exit",
    "unittest.case.SkipTest",
    "asyncio.exceptions.CancelledError",
}


def classify(exception: BaseException, *, program: object | None = None) -> CaptureError:
    """Say what a capture that raised is about; never raises.

    ``program`` is what was traced: its first line stands in where the traceback holds no line of the user's.
    """
    links = read_chain(exception)
    kind, found = match(links)
    telling = _innermost(links) if found.types[0] in _WRAPPERS else found
    line = find_user_line(links, telling, kind, program)
    places = [place(frame.path, frame.function) for link in links for frame in link.frames]
    return CaptureError(
        kind=kind,
        line=telling_line(telling),
        fingerprint=fingerprint(kind, telling, line),
        code=line.code if line else "",
        source=line.source if line else None,
        cause=find_cause(kind, telling, places),
    )


def is_capture_error(exception: BaseException) -> bool:
    """Whether the exception is a result of the capture: no interrupt, exit, test outcome or usage error of guard's.

    A group is one if all its members are.
    """
    names = {f"{base.__module__}.{base.__qualname__}" for base in type(exception).__mro__}
    if isinstance(exception, (GuardError, KeyboardInterrupt, SystemExit, GeneratorExit)) or names & _OUTCOMES:
        return False
    return all(is_capture_error(member) for member in members(exception))


def _innermost(links: Sequence[Link]) -> Link:
    return [link for link in links if not link.implicit][-1]

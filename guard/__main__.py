"""The process: arguments in, exit code out, and what becomes of an exception. Knows no verb."""

from __future__ import annotations

import os
import sys

from guard.errors import MACHINE, GuardError

TYPE_CHECKING = False  # typing, contextlib and pathlib cost as much as the rest of an answer that nothing moved
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

INTERNAL, INTERRUPTED = 3, 130
BROKEN_PIPE = 141  # 128 + SIGPIPE, as a shell reports it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run guard; every way out is an exit code, and no user sees a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _make_printable()
    try:
        code = _run(given)
        sys.stdout.flush()
    except GuardError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return _left()
    except OSError as error:
        return _environment(error) if error.errno in MACHINE else _internal(error, given)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug of guard's is a log, not a traceback
        return _internal(error, given)
    return code


def _run(given: Sequence[str]) -> int:
    """Answer a plain ``guard check`` where nothing moved; else leave it to the command line."""
    line = _unchanged() if list(given) == ["check"] else None
    if line is not None:
        print(line)
        return 0
    from guard import cli

    return cli.run(given)


def _unchanged() -> str | None:
    from guard.freshness.quick import unchanged

    line = unchanged(os.environ)
    if line is None or not sys.stdout.isatty():
        return line
    from guard.report import color

    return color.paint(line, "good", color=color.wanted(sys.stdout, os.environ))


def _environment(error: OSError) -> int:
    """Say what the machine refused."""
    from contextlib import suppress

    subject = error.filename or "the output"
    with suppress(OSError):
        print(f'error: "{subject}" cannot be used: {error.strerror}', file=sys.stderr)
    # what is left in the buffer would fail once more at exit
    with suppress(OSError, ValueError):
        sys.stdout.close()
    return GuardError.exit_code


def _left() -> int:
    """Say nothing to whoever read the output and has left (| head), not even at exit."""
    from contextlib import suppress

    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def _make_printable() -> None:
    """Print what the terminal's encoding lacks as escapes, instead of failing on it; a closed stream takes nothing."""
    # with >&- and under pythonw these are None; pytest's faulthandler asks for the second kind
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    sys.__stdout__, sys.__stderr__ = sys.__stdout__ or sys.stdout, sys.__stderr__ or sys.stderr  # type: ignore[assignment,misc]
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _nowhere() -> IO[str]:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - pathlib: see above


def _internal(error: Exception, arguments: list[str]) -> int:
    from guard.commands.bug_report import write_bug_report

    path = write_bug_report(error, arguments)
    first = str(error).partition("\n")[0]
    print(f"error: guard itself failed: {type(error).__name__}: {first}", file=sys.stderr)
    print(f"  please report it with {path or 'this command (the log could not be written)'}", file=sys.stderr)
    return INTERNAL


if __name__ == "__main__":
    sys.exit(main())

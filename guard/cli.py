"""The command line: finds the verb, has its arguments parsed, calls it. Imports neither before it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from guard import __version__
from guard.commands.verbs import VERBS
from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = "Golden graphs of PyTorch programs: re-traced and compared with reviewed baselines."
EXIT_CODES = "exit codes: 0 all hold, 1 findings, 2 usage, 3 internal error, 4 nothing was checked, 130 interrupted"


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code.

    Raises:
        GuardError: What the user can mend.
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help(), end="")
        return 0 if arguments else 2
    name, *rest = arguments
    if name in ("-V", "--version"):
        print(f"graph-guard {__version__}")
        return 0
    if name not in VERBS:
        raise _unknown(name)
    return _dispatch(name, rest)


def _unknown(name: str) -> UsageError:
    from difflib import get_close_matches

    near = get_close_matches(name, VERBS, n=1, cutoff=0.5)
    what = "flag before the verb" if name.startswith("-") else "verb"
    return UsageError(f'unknown {what} "{name}"', f'did you mean "guard {near[0]}"?' if near else "guard --help")


def _dispatch(name: str, arguments: Sequence[str]) -> int:
    from guard.commands.arguments import parse

    try:
        options = parse(name, arguments)
    except SystemExit as end:  # --help has printed itself
        return cast("int", end.code)
    module, _, function = VERBS[name].function.partition(":")
    return cast("int", getattr(import_module(f"guard.commands.{module}"), function)(options))


def _help() -> str:
    width = max(map(len, VERBS))
    verbs = "".join(f"  {name:<{width}}  {verb.line}\n" for name, verb in VERBS.items())
    flags = "  -h, --help     of guard, or of a verb: guard check --help\n  -V, --version\n"
    return (
        f"usage: guard VERB ...\n\n{DESCRIPTION}\n\nverbs:\n{verbs}\nflags:\n{flags}\n"
        f"{EXIT_CODES}\n\nexamples:\n  guard check\n  guard accept --all\n"
    )

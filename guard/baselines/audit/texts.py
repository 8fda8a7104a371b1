"""Whether one file of ``baselines/`` says what guard would have written there. Pure."""

from __future__ import annotations

import re
import shlex

from guard.baselines.audit.beside import beside, difference, misplaced
from guard.baselines.audit.fault import Fault
from guard.baselines.names import SUFFIX, check_of, quoted, relative_path
from guard.errors import GraphSyntaxError

_CONFLICT = re.compile(rb"^(?:<{7}|={7}|>{7}|\|{7})(?: |\r?$)", re.MULTILINE)
_CHECK = b"check "


class Texts:
    """Judge of many texts: one that differs from another in nothing but its check is not parsed again."""

    def __init__(self) -> None:
        self._right: set[bytes] = set()

    def faults(self, relative: str, data: bytes, shown: str) -> tuple[Fault, ...]:
        """Return what is wrong with a file.

        Args:
            relative: below ``baselines/``.
            data: its bytes.
            shown: its path as messages print it.
        """
        conflict = _CONFLICT.search(data)
        if conflict is not None:
            line = data.count(b"\n", 0, conflict.start()) + 1
            problem = "merge conflict marker: take either side, or check again and accept"
            return (Fault(shown, line, "conflict", problem, _again(relative, shown)),)
        if relative.endswith(SUFFIX):
            return self._graph(relative, data, shown)
        return beside(relative, data, shown)

    def _graph(self, relative: str, data: bytes, shown: str) -> tuple[Fault, ...]:
        """Judge a graph; ``print_program(parse_program(text)) == text`` wherever it finds nothing."""
        check, body = split(data)
        if body not in self._right:
            fault = _spelling(relative, data, shown)
            if fault is not None:
                return (fault,)
            self._right.add(body)
        return misplaced(relative, check, relative_path(check), shown)


def split(data: bytes) -> tuple[str, bytes]:
    """Return a graph's id, "" where its second line has none, and all of its text but that line."""
    first, _, rest = data.partition(b"\n")
    line, _, body = rest.partition(b"\n")
    if not line.startswith(_CHECK):
        return "", data
    try:
        return line[len(_CHECK) :].rstrip(b"\r").decode(), b"\n".join((first, body))
    except UnicodeDecodeError:
        return "", data


def function_of(check: str) -> tuple[str, str]:
    """Return the module of an id, and its function with its classes: what is before parameters and names."""
    module, _, test = check.partition("::")
    return module, test.partition("[")[0].partition("#")[0]


def _spelling(relative: str, data: bytes, shown: str) -> Fault | None:
    from guard.ir.parser import parse_bytes
    from guard.ir.printer import print_program

    try:
        program = parse_bytes(data, shown)
    except GraphSyntaxError as error:
        return Fault(shown, error.line, "unreadable", error.message, _again(relative, shown))
    text, wanted = data.replace(b"\r\n", b"\n"), print_program(program).encode()
    if text == wanted:
        return None
    line, problem = difference(text, wanted)
    return Fault(shown, line, "spelling", problem, f"rm -- {shlex.quote(shown)} && {_again(relative, shown)}")


def _again(relative: str, shown: str) -> str:
    """Return the command that records a file's check again."""
    check = check_of(relative) if relative.endswith(SUFFIX) else None
    return f"guard update {quoted(check)}" if check else f"guard update {shlex.quote(shown)}"

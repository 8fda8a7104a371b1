"""The text of ``check[params].cost.json``: the accepted trace cost of a check, a section an environment. Pure.

JSON with its keys sorted, one a line, so that a diff is small and names what moved.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from guard.baselines.read_costs import FORMAT, MAX_BYTES, Fault, read, top
from guard.baselines.section import Section, print_section, quote
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class CostSyntaxError(GuardError):
    """A cost file that is not right; ``line`` counts from 1."""

    def __init__(self, message: str, line: int, path: str = "<text>") -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.message = message
        self.line = line
        self.path = path


def dump(check: str, sections: Mapping[str, Section]) -> bytes:
    """Print a file; the same sections give the same bytes."""
    traces = ",\n".join(f"  {quote(key)}: {print_section(sections[key])}" for key in sorted(sections))
    return f'{{\n "check": {quote(check)},\n "format": {FORMAT},\n "traces": {{\n{traces}\n }}\n}}\n'.encode()


def parse(data: bytes, check: str | None = None, path: str = "<text>") -> dict[str, Section]:
    """Read a file: environment -> what was accepted there.

    Args:
        data: its bytes.
        check: whose file it is, where that is known.
        path: for messages.

    Raises:
        CostSyntaxError: It is not what dump writes, or another check's.
    """
    try:
        return read(data, check)
    except Fault as fault:
        raise CostSyntaxError(fault.message, _line(data, fault.at), path) from None


def check_of(data: bytes) -> str | None:
    """Return the check that a file says it belongs to, None where it does not read."""
    try:
        return str(top(data)["check"])
    except Fault:
        return None


def cost_of(path: Path) -> str | None:
    """Return the check that a file of the store says it belongs to, None where it does not read."""
    try:
        with path.open("rb") as stream:
            return check_of(stream.read(MAX_BYTES + 1)) if path.is_file() else None
    except OSError:
        return None


def merged(data: bytes | None, check: str, sections: Mapping[str, Section]) -> bytes:
    """Return a file with some sections in place of its own; one that does not read is written anew."""
    try:
        before = parse(data, check) if data is not None else {}
    except CostSyntaxError:
        before = {}
    return dump(check, {**before, **sections})


def bound(data: bytes | None, check: str, key: str) -> str | None:
    """Return a digest of what a file holds of one environment, None where that is nothing.

    Of one that does not read it is the whole file's: what is in the place of the section cannot be told.
    """
    if data is None:
        return None
    try:
        found = parse(data, check).get(key)
    except CostSyntaxError:
        return sha256(data).hexdigest()
    return None if found is None else sha256(print_section(found).encode()).hexdigest()


def _line(data: bytes, at: tuple[str, ...] | int) -> int:
    """Find the line of a key: behind those of the keys above it."""
    if isinstance(at, int):
        return at
    text, place = data.decode(errors="replace"), 0
    for key in at:
        found = text.find(quote(key), place)
        if found < 0:  # spelled with escapes
            break
        place = found
    return text.count("\n", 0, place) + 1

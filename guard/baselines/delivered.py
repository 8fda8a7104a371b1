"""Captures that another machine left for accept: taken from a folder or a zip file, verified, evaluated never.

Everything is read into memory, within limits, and put into this project's own pending folder only once it is known to
be what that machine's ``guard check`` captured of sources that are the ones here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.baselines.arrived import printable, read_arrived
from guard.baselines.names import COST_SUFFIX, SUFFIX, quoted
from guard.baselines.origin import parse
from guard.baselines.pending import META, ORIGIN, Broken, digest, digests, folder, read_from, write_pending
from guard.baselines.store import Store
from guard.baselines.take import plan
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from guard.baselines.origin import Origin
    from guard.baselines.pending import Pending
    from guard.config import Config


@dataclass(frozen=True)
class Delivered:
    """What is in a delivery."""

    captures: Mapping[str, Pending]
    """By check: those that may be taken."""
    origins: tuple[Origin, ...] = ()
    refused: tuple[str, ...] = ()
    """A sentence for each that may not."""


def delivered(config: Config, path: Path, head: str) -> Delivered:
    """Read a delivery, and verify it.

    Args:
        config: the project.
        path: a pending folder that was copied here, one or several of them in a folder, or a zip file of such.
        head: the commit that is checked out here, "" where nobody knows.

    Raises:
        GuardError: It is no delivery: damaged, too large, with links or names that lead out, or without an origin.
    """
    files = read_arrived(path, _is_wanted)
    tops = [name.removesuffix(ORIGIN) for name in files if name.rpartition("/")[2] == ORIGIN]
    if not tops:
        tip = 'upload ".guard/pending" whole, hidden files included'
        raise GuardError(f'"{path}" has no "{ORIGIN}": it is not what guard check left', tip)
    found: dict[str, Pending] = {}
    refused: list[str] = []
    origins = []
    for top in tops:
        below = {name.removeprefix(top): data for name, data in files.items() if _top_of(name, tops) == top}
        origin = _origin(f"{path}/{top}{ORIGIN}", below[ORIGIN])
        origins.append(origin)
        for one in _captures(config, origin, below):
            why = one if isinstance(one, str) else _unfit(config, origin, one, head, found)
            if why is not None:
                refused.append(why)
            elif not isinstance(one, str):
                found[one.check] = one
    return Delivered(dict(sorted(found.items())), tuple(origins), tuple(refused))


def take_in(config: Config, found: Pending) -> None:
    """Put a verified capture where ``guard accept`` takes it from, in place of what this machine saw.

    Raises:
        GuardError: The state folder cannot be written.
    """
    text = None if found.text is None else found.text.decode()
    write_pending(config, found.check, text, found.meta, found.cost)


def _is_wanted(name: str) -> bool:
    return name.endswith((SUFFIX, SUFFIX + META, COST_SUFFIX)) or name.rpartition("/")[2] == ORIGIN


def _top_of(name: str, tops: Sequence[str]) -> str:
    return max((top for top in tops if name.startswith(top)), key=len, default="")


def _origin(where: str, data: bytes) -> Origin:
    try:
        return parse(data)
    except ValueError as error:
        raise GuardError(f'"{where}" does not read: {error}') from error


def _captures(config: Config, origin: Origin, files: Mapping[str, bytes]) -> Iterator[Pending | str]:
    """Yield the captures that the run named, and a sentence for each that it did not, or that is not as it was."""

    def read(path: Path, most: int) -> bytes:
        name = path.relative_to(folder(config)).as_posix()
        if name not in files:
            raise FileNotFoundError(f'"{name}" is not there')
        return files[name][: most + 1]

    metas = {name for name in files if name.endswith(SUFFIX + META)}
    for name in sorted({*origin.captures, *metas}):
        shown = printable(name)
        if name not in origin.captures:
            yield f'"{shown}": the run that left the others did not capture it'
        elif name not in files or digest(files[name]) != origin.captures[name]:
            yield f'"{shown}": it is not there as it was captured'
        else:
            one = read_from(config, folder(config) / name, read)
            yield one if not isinstance(one, Broken) else f'"{shown}": {printable(one.problem)}'


def _unfit(config: Config, origin: Origin, one: Pending, head: str, others: Mapping[str, Pending]) -> str | None:
    """Say why a capture must not be taken in, None where it may."""
    subject = quoted(one.check)
    other = others.get(one.check)
    if other is not None and (other.text, other.cost) != (one.text, one.cost):
        return f"{subject}: there are two captures of it that differ, on {other.meta.device} and {one.meta.device}"
    if not (origin.commit and origin.commit == head):
        moved = _moved(config, one)
        if moved is not None:
            here = f"here is {head[:10]}" if head else "no commit is checked out here"
            return f"{subject}: it was captured at {origin.commit[:10] or 'no commit'}, {here}, and {moved}"
    refusal = plan(Store(config), one).refusal
    return None if refusal is None else f"{subject}: {refusal}"


def _moved(config: Config, one: Pending) -> str | None:
    """Say which source is another here than there, None where all are the same."""
    wanted = dict(one.meta.sources)
    if not wanted:
        return "it names no sources that could be compared"
    now = digests(config.root, wanted)
    moved = [source for source, value in wanted.items() if now.get(source) != value]
    return f'"{moved[0]}" is not the same' if moved else None

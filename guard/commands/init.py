"""``guard init``: what a repository needs for guard. Writes only what is not there; prints the next commands."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

from guard.commands.place import Place, find_place
from guard.commands.scaffold import Piece, plan
from guard.commands.transaction import write_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.commands.options import InitOptions


def init(options: InitOptions) -> int:
    """Write what is missing, say what was kept and what it lacks, and print the next three commands.

    Raises:
        GuardError: Nothing was written: a file is not what its name says, or the disk refuses.
    """
    place = find_place()
    pieces = plan(place, options.gpu_runner)
    write_all([(piece.path, piece.data) for piece in pieces if piece.data is not None], place.top)
    print("".join(_told(place, pieces)), end="")
    print("next:\n" + "".join(f"  {command}\n" for command in _next(place, pieces)), end="")
    return 0


def _told(place: Place, pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield a line a file; below one that was kept, the lines that it lacks."""
    for piece in pieces:
        shown = place.shown(piece.path)
        if piece.data is not None:
            yield f"wrote {shown}\n"
        elif piece.lacks:
            yield f"kept {shown}, which lacks:\n" + "".join(f"    {line}\n" for line in piece.lacks.splitlines())
        else:
            yield f"kept {shown}\n"


def _next(place: Place, pieces: Sequence[Piece]) -> Iterator[str]:
    yield "guard update"
    yield _install() if place.repository else f"git init && {_install()}"
    added = [place.shown(piece.path) for piece in pieces if piece.data is not None]
    paths = " ".join(shlex.quote(path) for path in (*added, place.shown(place.baselines)))
    yield f'git add -- {paths} && git commit -m "Guard the traced graphs"'


def _install() -> str:
    """Return the command that makes git run the hooks."""
    runner = next((tool for tool in ("pre-commit", "prek") if shutil.which(tool)), None)
    return f"{runner} install" if runner else "pip install pre-commit && pre-commit install"

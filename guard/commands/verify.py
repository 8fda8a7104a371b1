"""``guard verify``: whether the baselines are fit to be committed. Imports no torch, runs no check, changes no file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from guard.baselines.audit.whole import Audit, audit
from guard.config import load
from guard.report import faults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.commands.options import VerifyOptions
    from guard.config import Config

# As guard.verdict has them; importing it costs a tenth of this command
HOLD, FINDINGS, NOTHING = 0, 1, 4


def verify(options: VerifyOptions) -> int:
    """Print what is to be mended; 0 where nothing is, 4 where there is nothing to look at."""
    config = load()
    found = _chosen(config, audit(config, os.environ), options.files)
    if options.format == "json":
        from guard.report.json import dump

        print(dump(faults.as_record(*found)), end="")
    else:
        # a name that somebody else chose must not steer the terminal
        print("".join(map(_visible, faults.render(*found))), end="")
    if found.faults:
        return FINDINGS
    return HOLD if found.baselines or options.files else NOTHING


def _chosen(config: Config, found: Audit, files: Sequence[str]) -> Audit:
    """Keep the faults of some files or folders, all without."""
    if not files:
        return found
    paths = tuple(Path(os.path.normpath(Path.cwd() / file)) for file in files)
    wanted = (fault for fault in found.faults if _is_below(config.root / fault.path, paths))
    return found._replace(faults=tuple(wanted))


def _is_below(path: Path, tops: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(top) for top in tops)


def _visible(letter: str) -> str:
    return letter if letter == "\n" or letter.isprintable() else ascii(letter)[1:-1]

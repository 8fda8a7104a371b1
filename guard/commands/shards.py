"""What a shard is told before it runs, and what it says of itself afterwards."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

from guard.baselines.names import short_id
from guard.errors import UsageError
from guard.findings import Shard
from guard.report.read import read
from guard.session.shards import FILE

if TYPE_CHECKING:
    from pathlib import Path

    from guard.commands.collection import Collection
    from guard.commands.options import CheckOptions
    from guard.config import Config
    from guard.findings import Run

LONGEST = 1e6
"""Seconds. JSON has numbers that no check takes, such as 1e999."""


def leave_durations(config: Config, options: CheckOptions, folder: Path) -> str:
    """Write what checks took before into the folder of a run, for its workers; return the digest, "" for nothing.

    Raises:
        UsageError: The report is there and does not read.
    """
    if options.durations is None or options.shard is None:
        return ""
    path = options.durations / "run.json" if options.durations.is_dir() else options.durations
    try:
        known = durations(config, read(path.read_bytes()))
    except FileNotFoundError:  # of the first run, or of one that found no report of before
        return ""
    except OSError as error:
        raise UsageError(f'"{path}" cannot be read: {error.strerror}') from error
    except ValueError as error:
        raise UsageError(
            f'"{path}" is no report of guard\'s: {error}', "guard check --report DIR writes one"
        ) from error
    data = json.dumps(known, sort_keys=True).encode()
    (folder / FILE).write_bytes(data)
    return sha256(data).hexdigest() if known else ""


def durations(config: Config, run: Run) -> dict[str, int]:
    """Return the milliseconds that each test took, by its id: calls of one test are one."""
    spent: Counter[str] = Counter()
    for outcome in run.outcomes:
        if outcome.check and outcome.seconds > 0 and not outcome.device:
            spent[short_id(outcome.nodeid, config.checks_prefix)] += round(min(outcome.seconds, LONGEST) * 1000)
    return dict(spent)


def is_part(options: CheckOptions) -> bool:
    """Tell whether others run what this run leaves; one shard of one is a run like any other."""
    return options.shard is not None and options.shard != (1, 1)


def shard(options: CheckOptions, collection: Collection, durations: str, *, complete: bool) -> Shard | None:
    """Describe the shard that ran, None where the run was not split."""
    if options.shard is None or not is_part(options):
        return None
    planned = frozenset(collection.planned)
    left_out = tuple(check for check in collection.known if check not in planned)
    number, of = options.shard
    return Shard(number, of, durations, complete, left_out)

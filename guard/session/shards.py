"""Which checks a shard runs: decided from their ids and from what they took before, the same on every machine."""

from __future__ import annotations

import json
from hashlib import sha256
from statistics import median_low
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

ALIKE = 1
"""Milliseconds of each check where nothing is known of any."""


FILE = "durations.json"
"""In the folder of a run: what its controller read, for its workers."""


def durations(run: Path | None) -> dict[str, int]:
    """Return the milliseconds by id that the controller left for this run's workers; nothing where it left none."""
    try:
        left = json.loads((run / FILE).read_bytes()) if run is not None else {}
    except FileNotFoundError:
        return {}
    return {str(check): int(spent) for check, spent in left.items()}


def share(checks: Iterable[str], durations: Mapping[str, int], number: int, of: int) -> frozenset[str]:
    """Return the ids of one shard; each id is in exactly one of them.

    The longest first, each to the shard that has least so far (Graham's LPT rule: at most 4/3 of the best). A check
    that is new takes what the median one does. Those that take the same are put in the order of their ids' digests, so
    that the parameters of one slow test are spread.

    Args:
        checks: ids of all that is to run, in any order.
        durations: milliseconds by id; ids that are none of the checks are left out.
        number: of the shard, from 1.
        of: how many shards there are; more than checks leave some empty.
    """
    known = {check: durations[check] for check in set(checks) if check in durations}
    usual = median_low(known.values()) if known else ALIKE
    weights = {check: max(known.get(check, usual), ALIKE) for check in set(checks)}
    loads = [0] * of
    mine = set()
    for check in sorted(weights, key=lambda check: (-weights[check], _digest(check))):
        least = min(range(of), key=loads.__getitem__)
        loads[least] += weights[check]
        if least == number - 1:
            mine.add(check)
    return frozenset(mine)


def _digest(check: str) -> bytes:
    return sha256(check.encode("utf-8", "surrogatepass")).digest()

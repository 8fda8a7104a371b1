"""The process that runs one check's pair of graphs: bench starts it and reads the file that it leaves."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guard.baselines.constants import read
from guard.cost.paired import Paired, line_of, to_json
from guard.ir.digest import digests_of
from guard.ir.parser import parse_program

if TYPE_CHECKING:
    from guard.ir.graph import Program

MEMORY = 16 << 30
"""Bytes of data: what a graph of an honest size needs, and no more for one that lies about its sizes."""


def main(given: dict[str, Any]) -> None:
    """Run the pair and write what it gave.

    Args:
        given: ``baseline`` and ``current`` as text, ``quads``, ``constants`` (a folder) and ``answer`` as paths.
    """
    _limit_memory()
    from guard.cost.run.pair import pairs
    from guard.cost.run.setting import quiet

    with quiet():
        baseline, current = parse_program(given["baseline"]), parse_program(given["current"])
        constants = _constants(Path(given["constants"]), baseline, current)
        found = pairs(baseline, current, given["quads"], constants)
    placed = [_placed(pair, given) for pair in found]
    Path(given["answer"]).write_text(json.dumps([to_json(pair) for pair in placed]), encoding="ascii")


def _constants(folder: Path, *programs: Program) -> dict[str, Any]:
    """What the digests of both files stand for; what was not kept is left out."""
    from guard.ir.rebuild.constants import tensor_of

    found = {digest: read(folder, digest) for program in programs for digest in digests_of(program)}
    return {digest: tensor_of(data) for digest, data in found.items() if data is not None}


def _placed(pair: Paired, given: dict[str, Any]) -> Paired:
    """Add the line of the node at fault."""
    if pair.where is None or pair.side is None:
        return pair
    return replace(pair, line=line_of(given[pair.side], pair.where))


def _limit_memory() -> None:
    """Have an allocation fail in place of the machine; where there is no such limit, the machine's own holds."""
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY if hard < 0 else min(MEMORY, hard), hard))
    except (ImportError, OSError, ValueError):  # not on Windows; refused in some containers
        return


if __name__ == "__main__":
    main(json.load(sys.stdin))

"""The program that a probe's subprocess runs: look at each fix, print one JSON object. ``python -m`` this module."""

from __future__ import annotations

import json
import sys
import warnings
from typing import TYPE_CHECKING

from guard.tracers.fixes.fix import FIXES

if TYPE_CHECKING:
    from guard.tracers.fixes.fix import Fix

NATIVE, NEEDED, CANNOT = "native", "needed", "cannot"


def look(fix: Fix) -> tuple[str, str]:
    """Return the state and its evidence: a defect that ``apply`` does not mend is "cannot", never "needed"."""
    try:
        before = fix.probe()
        if not before:
            return NATIVE, "torch does this right by itself"
        with fix.apply():
            after = fix.probe()
    except Exception as error:  # noqa: BLE001 - private parts of an unknown torch may fail in any way
        return CANNOT, _one_line(f"{type(error).__name__}: {error}")
    return (CANNOT, f"still wrong with the fix: {_count(after)}") if after else (NEEDED, _count(before))


def _count(symptoms: tuple[str, ...]) -> str:
    first, others = symptoms[0], len(symptoms) - 1
    return f"{first} (and {others} more)" if others else first


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps({fix.name: look(fix) for fix in FIXES}) + "\n")

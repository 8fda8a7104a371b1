"""A run as JSON for a program; docs/json.md documents every key. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from guard.findings import outcome_to_json
from guard.report.summary import counts, ignored, need_fix, warnings
from guard.verdict import exit_code

if TYPE_CHECKING:
    from guard.findings import Outcome, Run

SCHEMA = 1


def render(run: Run) -> str:
    """Print a run; the same run gives the same bytes, with outcomes in the order of ids."""
    outcomes = sorted(run.outcomes, key=lambda outcome: (outcome.check, outcome.nodeid))
    return dump(
        {
            "exit_code": exit_code(run),
            "counts": counts(run),
            "need_fix": need_fix(run),
            "warned": warnings(run),
            "ignored": ignored(run),
            "full": run.full,
            "collected": run.collected,
            "interrupted": run.interrupted,
            "seconds": round(run.seconds, 3),
            "environment": dict(sorted(run.environment.items())),
            "commit": run.commit,
            "notes": list(run.notes),
            "shard": None if run.shard is None else asdict(run.shard),
            "known": list(run.known),
            "selected": list(run.selected),
            "outcomes": [_outcome(outcome) for outcome in outcomes],
        }
    )


def dump(record: dict[str, Any]) -> str:
    """Print any verb's record, its schema's number first."""
    return json.dumps({"schema": SCHEMA, **record}, indent=2) + "\n"


def _outcome(outcome: Outcome) -> dict[str, Any]:
    plain = outcome_to_json(outcome)
    keys = (
        *("source", "device", "findings", "warned", "ignored"),
        *("needs", "skipped", "notes", "seconds", "pending", "graph", "counted", "replayed"),
    )
    rest = {key: plain[key] for key in keys} | {"seconds": round(outcome.seconds, 3)}
    rest["policy"] = [rule._asdict() for rule in outcome.policy]
    return {"check": outcome.check, "nodeid": outcome.nodeid, "status": outcome.status, **rest}

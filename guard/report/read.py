"""A run that was printed as JSON, read back: on another machine, or later. Pure; trusts nothing."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from guard.findings import UNCHANGED, Counted, Finding, Outcome, Replayed, Run, Shard
from guard.policy import Rule
from guard.report.json import SCHEMA
from guard.report.schema import problem, run_schema

_FINDINGS = ("findings", "warned", "ignored")


def read(data: bytes) -> Run:
    """Return the run that ``guard.report.json.render`` printed; keys that are not known are left out.

    Raises:
        ValueError: It is none: what was wanted and got, and at which key.
    """
    try:
        record = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError
        raise ValueError(f"it is no JSON: {error}") from None
    if isinstance(record, dict) and record.get("schema") != SCHEMA:
        raise ValueError(f'"schema": wanted {SCHEMA}, got {record.get("schema")!r}: another guard wrote it')
    wrong = problem(record, run_schema())
    if wrong is not None:
        raise ValueError(wrong)
    return _run(record)


def _run(record: dict[str, Any]) -> Run:
    shard = record["shard"]
    own = _own(Run, record) | {"outcomes": tuple(map(_outcome, record["outcomes"]))}
    return Run(**own | {"shard": None if shard is None else Shard(**_own(Shard, shard))})


def _outcome(record: dict[str, Any]) -> Outcome:
    found = {key: tuple(Finding(**_own(Finding, one)) for one in record[key]) for key in _FINDINGS}
    rules = tuple(Rule(**{key: one[key] for key in Rule._fields}) for one in record["policy"])
    unchanged = record["status"] == UNCHANGED
    counted = None if record.get("counted") is None else Counted(**_own(Counted, record["counted"]))
    replayed = None if record.get("replayed") is None else Replayed(**_own(Replayed, record["replayed"]))
    own = {"policy": rules, "counted": counted, "replayed": replayed, "unchanged": unchanged}
    return Outcome(**_own(Outcome, record) | found | own)


def _own(kind: type, record: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a class's fields, lists as tuples."""
    values = {field.name: record[field.name] for field in fields(kind) if field.name in record}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}

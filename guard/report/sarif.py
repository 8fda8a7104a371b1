"""A run as SARIF 2.1.0, which code scanning reads: docs.oasis-open.org/sarif/sarif/v2.1.0. Pure."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from guard import __version__
from guard.report.groups import cause
from guard.report.order import found, place
from guard.report.rules import RULES, rule_of
from guard.report.terminal import clean
from guard.verdict import INTERNAL, INTERRUPTED, exit_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.findings import Run
    from guard.report.order import Found

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "SRCROOT"
MOST = 5000
"""Results of one run that code scanning shows: docs.github.com/code-security, "SARIF support for code scanning"."""
BYTES = 25_000_000
"""Of the results. Code scanning takes 10 MB of a file that is packed, and text packs to a third at least."""
LONGEST = 2000
"""Characters of one message."""


def as_sarif(run: Run, *, prefix: str = "", home: str = "checks", most: int = MOST, limit: int = BYTES) -> str:
    """Print the file: one run of one tool, worst first.

    Args:
        run: what was seen.
        prefix: the project's folder below the repository's root, "" or ``sub/folder/``: locations are relative to that.
        home: where what has no place is shown, relative to the project: code scanning refuses a file with one such.
        most: results.
        limit: bytes of the results.
    """
    everything = found(run)
    results = list(_fitting(_results(everything[:most], prefix, home), limit))
    driver = {"name": "graph-guard", "semanticVersion": __version__, "rules": [_rule(name) for name in RULES]}
    record = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"graph-guard/{run.environment.get('device', 'cpu')}/"},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {ROOT: {"description": {"text": "root of the repository"}}},
        "invocations": [_invocation(run, len(everything) - len(results))],
        "results": results,
        "properties": {"environment": dict(sorted(run.environment.items())), "commit": run.commit},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [record]}, indent=1) + "\n"


def _fitting(results: Iterator[dict[str, Any]], limit: int) -> Iterator[dict[str, Any]]:
    for result in results:
        limit -= len(json.dumps(result, indent=1))
        if limit < 0:
            return
        yield result


def _rule(name: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": RULES[name]}, "defaultConfiguration": {"level": "error"}}


def _invocation(run: Run, left_out: int) -> dict[str, Any]:
    code = exit_code(run)
    told = {"executionSuccessful": code not in (INTERNAL, INTERRUPTED), "exitCode": code}
    if not left_out:
        return told
    note = f"{left_out} more findings do not fit here: run.json has all of them"
    return {**told, "toolExecutionNotifications": [{"level": "warning", "message": {"text": note}}]}


def _results(everything: Sequence[Found], prefix: str, home: str) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for one in everything:
        mark = _mark(one)
        seen[mark] += 1
        rule = rule_of(one.finding)
        yield {
            "ruleId": rule,
            "ruleIndex": list(RULES).index(rule),
            "level": "warning" if one.warned else "error",
            "message": {"text": _message(one)},
            "locations": [{"physicalLocation": _location(one, prefix, home)}],
            # the first is the one that code scanning tells alerts apart by
            "partialFingerprints": {
                "primaryLocationLineHash": f"{mark[:16]}:{seen[mark]}",
                "graphGuard/v1": f"{mark}:{seen[mark]}",
            },
            "properties": {"check": one.finding.check, "by": one.finding.by, "device": one.outcome.device},
        }


def _mark(one: Found) -> str:
    """Return what stays the same where lines move: the check, the rule, and the cause up to names and places."""
    said = (one.finding.check, rule_of(one.finding), repr(cause(one.finding)), one.outcome.device)
    return sha256("\0".join(said).encode("utf-8", "backslashreplace")).hexdigest()


def _message(one: Found) -> str:
    finding = one.finding
    fix = f"\n{finding.fix}" if finding.fix is not None else ""
    body = clean("\n".join((f"{finding.kind}: {finding.check} - {finding.title}", *finding.lines, *finding.evidence)))
    room = LONGEST - len(fix)
    return (body if len(body) <= room else f"{body[:room]} ...") + clean(fix)


def _location(one: Found, prefix: str, home: str) -> dict[str, Any]:
    path, line = place(one.finding, one.outcome)
    uri = quote(f"{prefix}{path or home}".encode("utf-8", "backslashreplace"))
    return {"artifactLocation": {"uri": uri, "uriBaseId": ROOT}, "region": {"startLine": line or 1}}

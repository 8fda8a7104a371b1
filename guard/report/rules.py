"""Names of what can be found, which code scanning knows alerts by, so they stay. docs/json.md says more of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.findings import KINDS

if TYPE_CHECKING:
    from guard.findings import Finding

_KINDS = {
    "internal": "guard itself failed",
    "import": "the check's module does not import",
    "shard": "a report of this run is missing, or is not what was planned",
    "refused": "the check cannot be guarded as it is written",
    "crash": "the process that ran the check died",
    "timeout": "the check did not end",
    "unreadable": "the baseline does not parse",
    "error": "the capture started to fail, or fails differently",
    "unfaithful": "the captured graph does not compute what the program computes",
    "drift": "baseline and current differ",
    "alarm": "the graph shows a sign that it is wrong",
    "trace-cost": "tracing does more than was accepted",
    "works": "the baseline is an error, and the capture now works",
    "fix": "the capture needs a fix of guard's",
    "missing": "there is no baseline",
    "orphan": "a baseline without a check",
    "empty": "the check guards nothing",
    "failed": "the test failed by itself",
}
_DRIFTS = {
    "proxy-leak": "a nested trace left nodes in the graph around it",
    "specialization": "a symbol became a constant, a new constraint, a graph break or a recompile",
    "signature": "inputs or outputs moved: roles, placements, their structure",
    "mutation": "a write or an alias moved",
    "collective": "a collective or its group moved",
    "type": "a dtype, shape, stride or device of what is computed moved",
    "constant": "a literal or a constant moved",
    "structure": "operators were added, removed, replaced or rewired",
    "order": "effects that conflict changed places",
}
RULES = {kind: _KINDS[kind] for kind in KINDS} | {f"drift/{name}": line for name, line in _DRIFTS.items()}
"""Rule -> what it says."""


def rule_of(finding: Finding) -> str:
    """Return the rule of a finding: its kind; of a drift, with its class."""
    named = f"{finding.kind}/{finding.drift}"
    return named if finding.drift and named in RULES else finding.kind

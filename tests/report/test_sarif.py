"""SARIF 2.1.0: what code scanning asks of a file, and names of alerts that stay."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from guard.findings import KINDS, Finding, Outcome, Run
from guard.policy import CLASSES
from guard.report.rules import RULES, rule_of
from guard.report.sarif import as_sarif
from guard.report.schema import problem

DRIFT = Finding(
    "drift",
    "a::b",
    "structure, +1 node",
    ("- %0: f32[4] = aten.cos.default(%x)", "+ %1: f32[4] = aten.sin.default(%x)  model.py:7"),
    'guard accept "a::b"',
    "model.py:7",
    "structure",
    "code",
)
ONE = Outcome("a::b", "checks/test_a.py::test_b", (DRIFT,), source="checks/test_a.py:12")
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
# What the standard requires of the objects that are written, and code scanning on top: a location with a line
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name", "rules"],
                            "properties": {
                                "name": {"const": "graph-guard"},
                                "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
                            },
                        }
                    },
                },
                "invocations": {"type": "array", "items": {"$ref": "#/$defs/invocation"}},
                "originalUriBaseIds": {"type": "object", "required": ["SRCROOT"]},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "automationDetails": {"type": "object", "required": ["id"]},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                "properties": {"type": "object"},
            },
            "additionalProperties": False,
        },
        "rule": {"type": "object", "required": ["id"], "properties": {"shortDescription": TEXT}},
        "invocation": {
            "type": "object",
            "required": ["executionSuccessful"],
            "properties": {"executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"}},
        },
        "result": {
            "type": "object",
            "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
            "properties": {
                "ruleId": {"enum": list(RULES)},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["error", "warning"]},
                "message": TEXT,
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
                "properties": {"type": "object"},
            },
            "additionalProperties": False,
        },
        "location": {
            "type": "object",
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation", "region"],
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "required": ["uri", "uriBaseId"],
                            "properties": {
                                "uri": {"type": "string", "minLength": 1},
                                "uriBaseId": {"const": "SRCROOT"},
                            },
                        },
                        "region": {
                            "type": "object",
                            "required": ["startLine"],
                            "properties": {"startLine": {"type": "integer", "minimum": 1}},
                        },
                    },
                }
            },
        },
    },
}


def sarif(*outcomes: Outcome, **settings: Any) -> dict[str, Any]:
    """Return the run of a file that has the shape of one."""
    record = json.loads(as_sarif(Run(tuple(outcomes)), **settings))
    assert problem(record, SCHEMA) is None
    (run,) = record["runs"]
    found: dict[str, Any] = run
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in found["results"])
    return found


def marks(*outcomes: Outcome) -> list[str]:
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in sarif(*outcomes)["results"]]


def test_a_drift_is_an_alert_on_the_check_s_line() -> None:
    (result,) = sarif(ONE)["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "checks/test_a.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 12}
    assert (result["ruleId"], result["level"]) == ("drift/structure", "error")
    assert result["message"]["text"].splitlines()[0] == "drift: a::b - structure, +1 node"
    assert result["message"]["text"].splitlines()[-1] == 'guard accept "a::b"'


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_rule(kind: str) -> None:
    assert rule_of(Finding(kind, "a::b", "x")) == kind
    assert RULES[kind]


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_of_drift_has_a_rule(name: str) -> None:
    assert rule_of(replace(DRIFT, drift=name)) == f"drift/{name}"
    assert rule_of(replace(DRIFT, drift="of a later guard")) == "drift"


def test_an_alert_keeps_its_mark_where_lines_and_names_of_values_move() -> None:
    moved = replace(
        DRIFT,
        lines=("- %3: f32[4] = aten.cos.default(%y)", "+ %4: f32[4] = aten.sin.default(%y)  model.py:99"),
        source="model.py:99",
        evidence=("since another commit",),
    )
    assert marks(ONE) == marks(replace(ONE, findings=(moved,), source="checks/test_a.py:400"))


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, findings=(replace(DRIFT, check="a::c"),)),
        replace(ONE, findings=(replace(DRIFT, drift="order"),)),
        replace(ONE, findings=(replace(DRIFT, lines=("+ %1: f32[4] = aten.tan.default(%x)",)),)),
        replace(ONE, device="cuda"),
    ],
)
def test_another_check_rule_change_or_device_is_another_alert(other: Outcome) -> None:
    assert marks(ONE) != marks(other)


def test_the_same_twice_has_two_marks() -> None:
    assert len(set(marks(ONE, ONE))) == 2


def test_what_has_no_place_is_shown_at_the_checks_folder() -> None:
    (result,) = sarif(Outcome("", "", (Finding("internal", "", "x"),)), prefix="sub/", home="my checks")["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/my%20checks"


def test_names_are_uris() -> None:
    odd = replace(ONE, source="checks/a b#?%\u00e9.py:3")
    (result,) = sarif(odd)["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "checks/a%20b%23%3F%25%C3%A9.py"


def test_warnings_come_after_what_fails() -> None:
    found = sarif(Outcome("a::a", "n", warned=(DRIFT,)), ONE)["results"]
    assert [result["level"] for result in found] == ["error", "warning"]


def test_a_file_has_so_many_results_and_bytes_and_says_what_is_left_out() -> None:
    outcomes = [replace(ONE, check=f"a::{n}", findings=(replace(DRIFT, check=f"a::{n}"),)) for n in range(30)]
    found = sarif(*outcomes, most=20)
    assert len(found["results"]) == 20
    note = found["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert note == "10 more findings do not fit here: run.json has all of them"
    assert 1 < len(sarif(*outcomes, limit=6000)["results"]) < 10
    assert "toolExecutionNotifications" not in sarif(ONE)["invocations"][0]


def test_a_run_that_guard_broke_is_not_successful() -> None:
    assert sarif(ONE)["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    broken = Outcome("a::b", "n", (Finding("internal", "a::b", "x" * 9000),))
    assert sarif(broken)["invocations"] == [{"executionSuccessful": False, "exitCode": 3}]
    assert len(sarif(broken)["results"][0]["message"]["text"]) < 2100

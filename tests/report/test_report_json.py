from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from guard.findings import KINDS, Counted, Finding, Outcome, Run, Shard
from guard.policy import Rule
from guard.report.json import render

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"
DRIFT = Finding(
    "drift", "a::b", "+1 node", ("+ %2 \ud800",), 'guard accept "a::b"', "checks/test_a.py:3", "structure", "code"
)
COUNTED = Counted("holds", 1010, 1000)
RUN = Run(
    (
        Outcome(
            "b::a",
            "checks/test_b.py::test_a",
            needs=("nested-isolation",),
            seconds=0.25,
            counted=COUNTED,
            policy=(Rule("order", "ignore", reason="why"),),
        ),
        Outcome(
            "a::b",
            "checks/test_a.py::test_b",
            (DRIFT,),
            pending=".guard/pending/a/b.graph",
            source="checks/test_a.py:2",
        ),
    ),
    seconds=1.23456,
    collected=2,
    environment={"torch": "2.13.0", "device": "cpu"},
    shard=Shard(1, 2, complete=True),
    known=("a::b",),
    selected=("a::b",),
)


def test_the_whole_record() -> None:
    assert json.loads(render(RUN)) == {
        "schema": 1,
        "exit_code": 1,
        "counts": {"holds": 1, "drift": 1},
        "need_fix": 1,
        "warned": 0,
        "ignored": 0,
        "full": False,
        "collected": 2,
        "interrupted": False,
        "seconds": 1.235,
        "environment": {"device": "cpu", "torch": "2.13.0"},
        "commit": "",
        "notes": [],
        "shard": {"number": 1, "of": 2, "durations": "", "complete": True, "left_out": []},
        "known": ["a::b"],
        "selected": ["a::b"],
        "outcomes": [
            {
                "check": "a::b",
                "nodeid": "checks/test_a.py::test_b",
                "status": "drift",
                "source": "checks/test_a.py:2",
                "device": "",
                "policy": [],
                "findings": [
                    {
                        "kind": "drift",
                        "check": "a::b",
                        "title": "+1 node",
                        "lines": ["+ %2 \ud800"],
                        "fix": 'guard accept "a::b"',
                        "source": "checks/test_a.py:3",
                        "drift": "structure",
                        "by": "code",
                        "reason": "",
                        "evidence": [],
                        "cost": [],
                    }
                ],
                "warned": [],
                "ignored": [],
                "needs": [],
                "skipped": None,
                "notes": [],
                "seconds": 0.0,
                "pending": ".guard/pending/a/b.graph",
                "graph": "",
                "counted": None,
                "replayed": None,
            },
            {
                "check": "b::a",
                "nodeid": "checks/test_b.py::test_a",
                "status": "holds",
                "source": "",
                "device": "",
                "policy": [{"kind": "order", "action": "ignore", "by": "", "reason": "why"}],
                "findings": [],
                "warned": [],
                "ignored": [],
                "needs": ["nested-isolation"],
                "skipped": None,
                "notes": [],
                "seconds": 0.25,
                "pending": None,
                "graph": "",
                "counted": {"state": "holds", "calls": 1010, "baseline": 1000, "said": ""},
                "replayed": None,
            },
        ],
    }


def test_the_same_run_gives_the_same_bytes_in_any_order() -> None:
    turned = {"device": "cpu", "torch": "2.13.0"}
    swapped = replace(RUN, outcomes=tuple(reversed(RUN.outcomes)), environment=turned)
    assert render(swapped) == render(RUN)
    assert list(json.loads(render(RUN)))[:3] == ["schema", "exit_code", "counts"]


def keys(record: Any) -> set[str]:
    if isinstance(record, list):
        return {key for item in record for key in keys(item)}
    if not isinstance(record, dict):
        return set()
    return {key for key, value in record.items() for key in (key, *(() if key in OPEN else keys(value)))}


# objects whose keys are data
OPEN = ("counts", "classes", "environment")


def documented(page: Path) -> set[str]:
    return set(re.findall(r"^\| `([\w-]+)`", page.read_text("utf-8"), re.MULTILINE))


def test_the_page_documents_every_key_and_kind() -> None:
    assert keys(json.loads(render(RUN))) | set(KINDS) <= documented(PAGE)

"""run.json, read back: everything of a run, and nothing that is not one."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from guard.findings import KINDS, Counted, Finding, Outcome, Replayed, Run, Shard
from guard.policy import Rule
from guard.report.json import render
from guard.report.read import read
from guard.report.schema import problem, run_schema

FULL = Finding(
    "drift",
    "a::b",
    "structure, +1 node",
    ("+ %2 \ud800", "- \u202e|`x`"),
    'guard accept "a::b"',
    "checks/test_a.py:3",
    "structure",
    "code",
    ("torch as then",),
    ("flops +3",),
    "known",
)
OUTCOME = Outcome(
    "a::b",
    "checks/test_a.py::test_b",
    (FULL,),
    ("nested-isolation",),
    "why",
    ("note",),
    0.25,
    ".guard/pending/a/b.graph",
    (FULL,),
    (FULL,),
    (Rule("order", "ignore", "torch", "why"),),
    Counted("worse", 1010, 1000, "said"),
    "checks/test_a.py:2",
    "cuda",
    graph="9f2c",
    replayed=Replayed("unfaithful", ("example",), "output 0", ("[0]: wanted 1.0, got 2.0",)),
)
RUN = Run(
    (OUTCOME, Outcome("b::a", "checks/test_b.py::test_a"), Outcome("c::a", "n", unchanged=True)),
    1.235,
    full=True,
    collected=2,
    interrupted=True,
    environment={"torch": "2.13.0", "device": "cpu"},
    notes=("one",),
    known=("a::b", "b::a"),
    selected=("a::b",),
    shard=Shard(2, 3, "ab", complete=True, left_out=("b::a",)),
    commit="1" * 40,
)


def record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render(RUN))
    return found


def test_a_run_that_was_printed_reads_back_whole() -> None:
    assert read(render(RUN).encode()) == RUN
    assert read(render(Run()).encode()) == Run()


def test_the_run_above_leaves_no_field_at_its_default() -> None:
    for one in (RUN, OUTCOME, FULL, RUN.shard, OUTCOME.counted, OUTCOME.replayed):
        assert one is not None
        for field in fields(one):
            if field.name != "unchanged":  # what did not run has no findings: it is the last outcome of the run
                assert getattr(one, field.name) != field.default, field.name


def test_the_schema_names_every_key_that_is_printed_and_every_kind() -> None:
    schema = run_schema()
    printed = record()
    assert printed.keys() == schema["properties"].keys() == set(schema["required"])
    assert printed["outcomes"][0].keys() == schema["$defs"]["outcome"]["properties"].keys()
    assert printed["outcomes"][0]["findings"][0].keys() == schema["$defs"]["finding"]["properties"].keys()
    assert schema["$defs"]["finding"]["properties"]["kind"]["enum"] == list(KINDS)


def test_keys_of_a_later_guard_are_left_out() -> None:
    data = record() | {"later": 1}
    data["outcomes"][0]["later"] = {"x": 1}
    data["outcomes"][0]["findings"][0]["later"] = []
    assert read(json.dumps(data).encode()) == RUN


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), 2, '"schema": wanted 1, got 2: another guard wrote it'),
        (("seconds",), "1", "\"seconds\": wanted number, got '1'"),
        (("seconds",), -1, '"seconds": wanted 0 or more, got -1'),
        (("seconds",), float("nan"), '"seconds": wanted 0 or more, got nan'),
        (("collected",), True, '"collected": wanted integer, got True'),
        (("full",), 0, '"full": wanted boolean, got 0'),
        (("known", 1), None, '"known[1]": wanted string, got None'),
        (("environment", "torch"), 2, '"environment.torch": wanted string, got 2'),
        (("shard", "number"), 0, '"shard.number": wanted 1 or more, got 0'),
        (("outcomes", 0, "findings"), {}, '"outcomes[0].findings": wanted array, got dict'),
        (("outcomes", 0, "findings", 0, "kind"), "fine", '"outcomes[0].findings[0].kind": wanted one of internal'),
        (("outcomes", 0, "policy", 0, "action"), "x", '"outcomes[0].policy[0].action": wanted one of fail'),
    ],
)
def test_what_is_no_run_is_refused_at_the_key(path: tuple[Any, ...], value: object, said: str) -> None:
    data = place = record()
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - its text is compared below
        read(json.dumps(data).encode())
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is no JSON"),
        (b"\xff", "it is no JSON"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"[]", '"the file": wanted object, got list'),
        (b'{"schema": 1}', '"exit_code": is not there'),
        (b"9" * 10_000, "it is no JSON"),
    ],
)
def test_what_is_no_record_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        read(data)


def test_a_missing_key_is_named() -> None:
    data = record()
    del data["outcomes"][1]["source"]
    with pytest.raises(ValueError, match=r'"outcomes\[1\]\.source": is not there'):
        read(json.dumps(data).encode())


def test_a_word_of_the_schema_that_is_not_checked_is_a_defect() -> None:
    with pytest.raises(KeyError, match="maxLength"):
        problem("x", {"type": "string", "maxLength": 3})


def test_a_shorter_run_is_another() -> None:
    assert read(render(replace(RUN, known=("a::b",))).encode()) != RUN

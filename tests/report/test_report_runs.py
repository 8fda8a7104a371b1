from __future__ import annotations

import json

from guard.cost.paired import Benched, Paired
from guard.cost.ratio import Ratio
from guard.report.runs import as_json, as_text

SLOW = Paired("main", values="same values", ratio=Ratio(1.25, 1e-3, 1.25e-3))
WRONG = Paired(
    "main", values="values differ", difference="output 0 [0]: wanted 1.0, got -1.0", ratio=Ratio(1, 1e-3, 1e-3)
)


def one(pair: Paired, *confirmed: str) -> str:
    return as_text(
        [Benched("a::b", drifts=("structure",), pairs=(pair,), confirmed=frozenset(confirmed), path="x.graph")]
    )


def test_a_check_that_holds_has_the_same_graph() -> None:
    assert as_text([Benched("a::b", idle=True)]) == '"a::b": nothing pending\n0 run, 1 with nothing pending\n'


def test_slower_is_said_only_where_it_was_confirmed() -> None:
    assert one(SLOW, "main") == (
        '"a::b": structure drift, same values, 1.25x\n'
        "  slower: 1 ms -> 1.25 ms a call, confirmed in a fresh process\n"
        '  intended? guard accept "a::b"\n'
        "1 run, 1 slower\n"
    )
    assert "a fresh process did not confirm it" in one(SLOW)
    assert "slower" not in one(SLOW)


def test_values_that_differ_name_the_first_wrong_element() -> None:
    assert one(WRONG) == (
        '"a::b": structure drift, values differ, 1.00x\n'
        "  output 0 [0]: wanted 1.0, got -1.0\n"
        "1 run, 1 with other values\n"
    )


def test_faster_is_a_note_and_report_only_says_why() -> None:
    assert "  faster: 1 ms -> 500 us a call; to keep it: " in one(Paired("main", ratio=Ratio(0.5, 1e-3, 5e-4)))
    assert "report only: two modes" in one(Paired("main", ratio=Ratio(1.5, 1e-3, 2e-3, "two modes")))


def test_what_was_not_run_shows_its_line() -> None:
    refused = Paired("main", 'no run cost: unknown target "os.system"', "%0: f32[4] = os.system(%x)", 6, "baseline")
    assert "  x.graph:6: %0: f32[4] = os.system(%x)\n0 run, 1 not run\n" in one(refused)
    assert as_text([Benched("a::b", "it has\x1b[2J no baseline")]).startswith('"a::b": no run cost: it has\\x1b[2J no')


def test_json_says_what_the_text_says() -> None:
    found = json.loads(as_json([Benched("a::b", pairs=(SLOW,), confirmed=frozenset(("main",)))], 1))

    assert found["exit_code"] == 1
    (check,) = found["checks"]
    assert check["graphs"][0]["slower"] is True
    assert check["graphs"][0]["ratio"] == {"ratio": 1.25, "baseline": 1e-3, "current": 1.25e-3, "report_only": None}

"""The cost file: stable bytes that merge, and a reader that trusts nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from guard.baselines.costs import CostSyntaxError, bound, check_of, cost_of, dump, merged, parse
from guard.baselines.read_costs import MAX_BYTES
from guard.baselines.section import Section

if TYPE_CHECKING:
    from pathlib import Path

CHECK = 'a::b["x"-é]'
PLAIN = Section(12_340, 0.01)
FULL = Section(9, 0.25, (("a.py:f", 4), ("b.py:<lambda>", 5)), 0, ((2, 4, 8), (10, 20, 40)), 77)
KEY, OTHER = "torch 2.13.0, python 3.11, linux-x86_64, fixes none", "torch 2.14.1"
SECTION: dict[str, Any] = {"calls": 1, "functions": {}, "tolerance": 0.01}


def file(**section: Any) -> bytes:
    traces = {KEY: {**SECTION, **section}}
    return json.dumps({"check": "a::b", "format": 1, "traces": traces}).encode()


def problem(data: bytes, check: str | None = "a::b") -> tuple[int, str]:
    with pytest.raises(CostSyntaxError) as caught:
        parse(data, check, "p")
    assert str(caught.value) == f"p:{caught.value.line}: {caught.value.message}"
    return caught.value.line, caught.value.message


def test_what_is_written_reads_back_and_gives_the_same_bytes() -> None:
    sections = {OTHER: FULL, KEY: PLAIN}
    data = dump(CHECK, sections)
    assert parse(data, CHECK) == sections
    assert dump(CHECK, dict(reversed(parse(data, CHECK).items()))) == data
    assert parse(data.replace(b"\n", b"\r\n"), CHECK) == sections
    assert check_of(data) == CHECK


def test_one_key_a_line_sorted_with_the_tolerance_beside_the_value() -> None:
    assert dump("a::b", {KEY: FULL}).decode() == (
        '{\n "check": "a::b",\n "format": 1,\n "traces": {\n'
        f'  "{KEY}": {{\n'
        '   "calls": 9,\n   "functions": {\n    "a.py:f": 4,\n    "b.py:<lambda>": 5\n   },\n'
        '   "growth": {"calls": [10, 20, 40], "sizes": [2, 4, 8]},\n'
        '   "instructions": 77,\n   "propagations": 0,\n   "tolerance": 0.25\n  }\n }\n}\n'
    )


def test_another_environment_s_section_stays_byte_for_byte() -> None:
    before = dump("a::b", {OTHER: FULL})
    after = merged(before, "a::b", {KEY: PLAIN})
    assert parse(after) == {KEY: PLAIN, OTHER: FULL}
    assert merged(after, "a::b", {KEY: PLAIN._replace(calls=1)}).count(b'"instructions": 77') == 1
    assert (
        merged(b"<<<<<<< torn", "a::b", {KEY: PLAIN})
        == dump("a::b", {KEY: PLAIN})
        == merged(None, "a::b", {KEY: PLAIN})
    )


def test_the_binding_is_that_of_the_section_alone() -> None:
    alone, both = dump("a::b", {KEY: PLAIN}), dump("a::b", {KEY: PLAIN, OTHER: FULL})
    assert bound(alone, "a::b", KEY) == bound(both, "a::b", KEY) != bound(both, "a::b", OTHER)
    assert bound(alone, "a::b", OTHER) is bound(None, "a::b", KEY) is None
    assert bound(b"torn", "a::b", KEY) not in (None, bound(b"torn!", "a::b", KEY))


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> other", "||||||| base"])
def test_a_conflict_is_named_with_its_line(marker: str) -> None:
    lines = dump("a::b", {KEY: PLAIN}).decode().split("\n")
    lines.insert(5, marker)
    assert problem("\n".join(lines).encode()) == (6, "a conflict of git's is not resolved")
    assert problem("\r\n".join(lines).encode())[0] == 6


def test_a_fault_is_told_with_the_line_of_its_key() -> None:
    text = dump("a::b", {KEY: FULL, OTHER: FULL}).decode()
    place = text.rindex('"b.py:<lambda>": 5')
    broken = f'{text[:place]}"b.py:<lambda>": "5"{text[place + 18 :]}'
    assert problem(broken.encode()) == (broken.count("\n", 0, place) + 1, 'wanted a count, got "5"')


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is no JSON"),
        (b"{", "it is no JSON"),
        (b"\xff", "it is no UTF-8"),
        (b"[]", "wanted an object, got list"),
        (b'{"check": "a::b"}', 'no key "format"'),
        (b'{"check": 1, "format": 1, "traces": {}}', "wanted a check's id, got 1"),
        (b'{"check": "a::b", "format": true, "traces": {}}', "wanted format 1, got true"),
        (b'{"check": "a::b", "format": 2, "traces": {}}', "wanted format 1, got 2"),
        (b'{"check": "a::c", "format": 1, "traces": {}}', 'it holds check "a::c", wanted "a::b"'),
        (b'{"check": "a::b", "format": 1, "traces": {}, "x": 1}', 'unknown key "x"'),
        (b'{"check": "a::b", "check": "a::b"}', 'the key "check" is there twice'),
        (b'{"check": "a::b", "format": 1, "traces": {"": {}}}', "wanted a printable key"),
        (b'{"check": "a::b", "format": 1, "traces": {"a\\u0000b": {}}}', "wanted a printable key"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b" " * (MAX_BYTES + 1), "the file is larger than 4 MiB"),
        (b'{"check": ' + b"9" * 100_000 + b"}", "a number is too large"),
        (file(calls=-1), "wanted a count, got -1"),
        (file(calls=True), "wanted a count, got true"),
        (file(calls=1.0), "wanted a count, got 1.0"),
        (file(calls=None), "wanted a count, got null"),
        (file(calls=float("nan")), "wanted a number, got NaN"),
        (file(tolerance=1), "wanted a share"),
        (file(tolerance=-0.1), "wanted a share"),
        (file(tolerance="1 %"), "wanted a share"),
        (file(functions=[]), "wanted an object, got list"),
        (file(functions={"f": "x" * 1000}), 'wanted a count, got "xxx'),
        (file(functions={"f\n": 1}), "wanted a printable key"),
        (file(growth={"sizes": [1, 2, 3], "calls": [1, 2, 3]}), "wanted sizes in geometric progression"),
        (file(growth={"sizes": [2, 4, 8]}), 'no key "calls"'),
        (file(growth={"sizes": [2, 4, 8], "calls": [1, 2]}), "wanted 3 numbers, got list"),
        (file(sneaky=1), 'unknown key "sneaky"'),
    ],
)
def test_a_hostile_file_is_refused_in_one_short_line(data: bytes, said: str) -> None:
    line, message = problem(data)
    assert said in message
    assert line >= 1
    assert message.isprintable()
    assert len(message) < 200


def test_a_file_of_the_store_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.cost.json"
    assert cost_of(path) is cost_of(tmp_path) is None
    path.write_bytes(dump("a::b", {}))
    assert cost_of(path) == "a::b"
    path.write_bytes(b"{")
    assert cost_of(path) is None

"""``guard cost``: what is accepted, and from git how it crept; shallow clones and torn versions say so."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from guard.__main__ import main
from guard.baselines.costs import dump
from guard.baselines.section import Section
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from pathlib import Path

HERE, THERE = "torch 2.13.0", "torch 2.14.1"
FILE = "baselines/a/b.cost.json"


@pytest.fixture
def crept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Three values of one check in four commits, one version that is torn, one value that is not committed."""
    made = repository(tmp_path / "project")
    (made.top / "checks").mkdir()
    made.write(".gitignore", ".guard/\n")
    accept(made, "a::b", 1000)
    accept(made, "a::c", 7, tolerance=0.05)
    made.commit()
    made.write("model.py", "")
    made.commit()
    made.write(FILE, "<<<<<<< torn")
    made.commit()
    accept(made, "a::b", 1005, tolerance=0.0, theirs=True)
    made.commit()
    accept(made, "a::b", 1100, theirs=True, propagations=2)
    monkeypatch.chdir(made.top)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return made


def accept(  # noqa: PLR0913 - what a section may hold
    made: Repository,
    check: str,
    calls: int,
    tolerance: float = 0.01,
    propagations: int | None = None,
    *,
    theirs: bool = False,
) -> None:
    there = {THERE: Section(5, 0.01)} if theirs else {}
    sections = {HERE: Section(calls, tolerance, propagations=propagations), **there}
    made.write(f"baselines/{check.replace('::', '/')}.cost.json", dump(check, sections).decode())


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["cost", *arguments]) == 0
    return capsys.readouterr().out


def hashes(made: Repository) -> list[str]:
    return made.git("log", "--reverse", "--format=%H").split()


def test_what_is_accepted_now(crept: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert crept.top.is_dir()
    assert run(capsys).splitlines() == [
        "check   calls  tolerance  environment",
        '"a::b"  1,100        1 %  torch 2.13.0',
        '"a::b"      5        1 %  torch 2.14.1',
        '"a::c"      7        5 %  torch 2.13.0',
    ]
    (row,) = json.loads(run(capsys, "a::c", "--format", "json"))["checks"]
    assert (row["check"], row["trace_cost"][0]["calls"], row["trace_cost"][0]["environment"]) == ("a::c", 7, HERE)


def test_how_it_crept(crept: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    first, _, _, fourth = hashes(crept)
    date = crept.git("log", "-1", "--date=short", "--format=%cd").strip()
    assert run(capsys, "--history", "a::b").splitlines() == [
        '"a::b" under torch 2.13.0',
        "  date           commit      calls  change  since first",
        f"  {date}     {first[:10]}  1,000",
        f"  {date}     {fourth[:10]}  1,005  +0.5 %       +0.5 %",
        "  not committed              1,100  +9.5 %      +10.0 %  2 uncached propagations",
        '"a::b" under torch 2.14.1',
        "  date        commit      calls  change  since first",
        f"  {date}  {fourth[:10]}      5",
        "note: 1 version does not parse, and is left out",
    ]


def test_the_record(crept: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(run(capsys, "--history", "--format", "json"))
    assert [(one["check"], one["environment"]) for one in record["history"]] == [
        ("a::b", HERE),
        ("a::b", THERE),
        ("a::c", HERE),
    ]
    steps = record["history"][0]["steps"]
    assert [step["commit"] for step in steps] == [hashes(crept)[0], hashes(crept)[3], None]
    assert [(step["calls"], step["change"], step["since_first"]) for step in steps] == [
        (1000, None, 0),
        (1005, 5, 5),
        (1100, 95, 100),
    ]
    assert (record["shallow"], len(record["notes"])) == (False, 1)


def test_a_shallow_clone_says_that_there_was_more(
    crept: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git = shutil.which("git") or "git"
    url = crept.top.as_uri()
    subprocess.run([git, "clone", "-q", "--depth=1", url, str(tmp_path / "clone")], check=True, capture_output=True)
    monkeypatch.chdir(tmp_path / "clone")
    (tmp_path / "clone/checks").mkdir()
    out = run(capsys, "--history", "a::b")
    assert "1,000" not in out
    assert out.endswith("note: the clone is shallow: older values are not here; git fetch --unshallow\n")


def test_many_checks_are_asked_for_by_their_folder(crept: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(101):
        accept(crept, f"many::{number}", number)
    record = json.loads(run(capsys, "--history", "--format", "json"))
    assert len(record["history"]) == 104
    assert [step["calls"] for step in record["history"][0]["steps"]] == [1000, 1005, 1100]


def test_nothing_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = repository(tmp_path / "empty")
    (made.top / "checks").mkdir()
    made.commit()
    monkeypatch.chdir(made.top)
    for flags in ((), ("--history",)):
        assert main(["cost", *flags]) == 0
        assert capsys.readouterr() == ("", "no trace cost is accepted yet: guard update\n")


def test_what_cannot_be_told(crept: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "a::zzz"]) == 2
    assert 'unknown check "a::zzz"' in capsys.readouterr().err
    crept.write(FILE, "{")
    assert main(["cost"]) == 2
    assert f"{FILE}:1: it is no JSON" in capsys.readouterr().err
    shutil.rmtree(crept.top / ".git")
    assert main(["cost", "--history"]) == 2
    assert "there is no git repository" in capsys.readouterr().err

"""selftest: every plant is caught as what it is, and one that is not is told."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

import pytest

from guard.commands.planted import Plant, plant, plants, write_planted, write_sound
from guard.commands.selftest import Row, exit_code, judge, text
from guard.drift.change import CLASSES
from guard.findings import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project import Project

PLANTS = {one.name: one for one in plants()}
# issue: each of these is planted by some file
WANTED = {
    "drift proxy-leak", "error fake-constant", "drift mutation", "drift structure", "drift type", "drift signature",
    "drift constant", "drift specialization", "unfaithful", "unfaithful, drift mutation",
    "trace-cost", "missing", "orphan", "empty", "holds",
}  # fmt: skip


def outcome(check: str, *findings: tuple[str, str, str]) -> dict[str, Any]:
    found = [{"kind": kind, "drift": drift, "title": title} for kind, drift, title in findings]
    return {"check": check, "status": found[0]["kind"] if found else "holds", "findings": found}


def one(wanted: str) -> Plant:
    return Plant("swapped", "operands are swapped", wanted, "")


def test_every_defect_has_a_plant() -> None:
    assert {one.wanted for one in PLANTS.values()} == WANTED


@pytest.mark.parametrize("name", PLANTS)
def test_a_plant_wants_what_there_is_and_changes_something(name: str) -> None:
    subject = PLANTS[name]
    for wanted in subject.wanted.split(", "):
        kind, _, detail = wanted.partition(" ")
        assert kind in (*KINDS, "holds")
        assert kind != "drift" or detail in CLASSES
    ast.parse(subject.module(planted=False))
    ast.parse(subject.module(planted=True))
    changed = subject.module(planted=False) != subject.module(planted=True) or subject.removes_baseline
    assert changed is (subject.wanted != "holds")
    assert subject.module(planted=True).count("# plant: ") == 0


def test_a_plant_replaces_its_line_at_the_same_indentation() -> None:
    read = plant(
        "x", "# defect: a\n# wanted: drift type\nimport torch\n\n\ndef f(x):\n    return x  # plant: return -x\n"
    )
    assert (read.defect, read.wanted, read.removes_baseline) == ("a", "drift type", False)
    assert read.module(planted=False).endswith("def f(x):\n    return x\n")
    assert read.module(planted=True).endswith("def f(x):\n    return -x\n")


def test_a_plant_may_need_a_newer_torch() -> None:
    text = "# defect: a\n# wanted: holds\n{}import torch\n"
    old, any_ = plant("x", text.format("# since: 2.13\n")), plant("x", text.format(""))
    assert [old.fits(version) for version in ("2.9.1", "2.13.0+cpu", "2.14.1", "3.0", "main")] == [False, *[True] * 4]
    assert any_.fits("2.9.1")


def test_the_planted_project_lacks_the_removed_baseline_alone(tmp_path: Path) -> None:
    chosen = tuple(PLANTS.values())
    root = tmp_path / "project"
    write_sound(root, chosen)
    for subject in chosen:
        (root / "baselines" / subject.name).mkdir(parents=True)
        (root / "baselines" / subject.name / "program.graph").write_text("recorded")
    write_planted(root, chosen)
    assert {path.parent.name for path in root.rglob("*.graph")} == set(PLANTS) - {"removed_baseline"}


@pytest.mark.parametrize(
    ("wanted", "outcomes", "got", "caught"),
    [
        ("drift type", [outcome("swapped::program", ("drift", "type", "type, f32 -> f64"))], "drift type", True),
        ("drift type", [outcome("swapped::program", ("drift", "order", "order, 2"))], "drift order", False),
        ("drift type", [outcome("swapped::program")], "holds", False),
        ("drift type", [outcome("other::program", ("drift", "type", ""))], "nothing", False),
        ("holds", [outcome("swapped::program")], "holds", True),
        (
            "error crash",
            [outcome("swapped::program", ("error", "", "the capture now fails: crash"))],
            "error crash",
            True,
        ),
        # a second finding that nobody asked for is an alarm
        (
            "drift type",
            [outcome("swapped::program", ("drift", "type", ""), ("drift", "order", ""))],
            "drift type, drift order",
            False,
        ),
    ],
)
def test_caught_is_exactly_what_was_wanted(wanted: str, outcomes: list[Any], got: str, caught: bool) -> None:  # noqa: FBT001 - a case
    (row,) = judge([one(wanted)], outcomes)
    assert (row.got, row.caught) == (got, caught)
    assert exit_code([row]) == (0 if caught else 1)


def test_survivors_stand_last_and_are_named() -> None:
    rows = [
        Row("a", "lost", "drift type", "holds", caught=False),
        Row("b", "mistaken", "drift type", "drift order", caught=False),
        Row("c", "moved", "drift type", "drift type", caught=True),
        Row("d", "none", "holds", "drift type", caught=False),
    ]
    lines = text(rows, painted=False).splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["c", "a", "b", "d"]
    assert lines[2].endswith("SURVIVED: lost")
    assert lines[3].endswith("MISTAKEN: mistaken")
    assert lines[-1] == "1 of 3 defects caught as what they are, 1 false alarm"


def test_every_plant_is_caught_and_the_user_tree_is_untouched(project: Project) -> None:
    pytest.importorskip("torch")
    # what would steer a run of the user's is not the self-test's
    project.environment = {"CI": "1", "PYTEST_ADDOPTS": "-k nothing"}
    before = sorted(project.root.rglob("*"))
    done = project.guard("selftest", "--format", "json", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)["plants"]
    assert {row["plant"]: row["got"] for row in rows} == {name: subject.wanted for name, subject in PLANTS.items()}
    assert sorted(project.root.rglob("*")) == before
    assert "recording" in done.stderr

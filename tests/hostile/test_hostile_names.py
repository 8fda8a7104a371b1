"""Names that no file system or shell likes: each check keeps a file of its own, and is found by its printed id."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project import Project

ODD: tuple[str, ...] = (
    "a/b",
    "..",
    "../../x",
    "a:b",
    "x" * 300,
    "\\U0001F98A" * 60,
    "#",
    "a#b",
    "con",
    "~",
    "%41",
    "[",
    "]",
    "-k",
)
ODD += ("$HOME", "`id`", "!x", "'", "*")
PARAMETERS = """
import pytest
@pytest.mark.parametrize("p", [pytest.param(0, id=name) for name in {names!r}])
def test_p(guard, p): guard.check(lambda: ["aten.sin.default"], tracer=None)
def test_named(guard):
    guard.check(lambda: ["aten.sin.default"], tracer=None)
    guard.check(lambda: ["aten.sin.default"], tracer=None, name="a/b:..#{fox}" + "x" * 300)
"""
ONE = 'def test_one(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)\n'


def printed_ids(text: str, lead: str) -> list[str]:
    return [shlex.split(line.removeprefix(lead))[0] for line in text.splitlines() if line.startswith(lead)]


def test_odd_names_are_recorded_found_and_hold(project: Project) -> None:
    project.checks(PARAMETERS.format(names=ODD, fox="\U0001f98a"))
    first = project.guard("check")
    assert (first.returncode, first.stdout.splitlines()[-1].split(" in ")[0]) == (1, f"{len(ODD) + 2} missing")
    ids = printed_ids(project.guard("list").stdout, "")
    accepted = project.guard("accept", *ids)
    assert (accepted.returncode, accepted.stderr) == (0, "")
    assert sorted(printed_ids(accepted.stdout, "accepted: ")) == sorted(ids)
    files = {path.name for path in (project.root / "baselines").rglob("*.graph")}
    assert len(files) == len(ODD) + 2
    assert all(len(os.fsencode(name)) <= 110 for name in files)
    again = project.guard("check", *ids)
    assert (again.returncode, again.stdout.split(" in ")[0]) == (0, f"{len(ODD) + 2} hold")
    assert not list(project.root.parent.glob("x*"))


def test_a_parameter_with_a_hash_is_no_orphan_and_not_lost(project: Project) -> None:
    project.checks(PARAMETERS.format(names=("#", "a#b"), fox=""))
    assert project.guard("update").returncode == 0
    ran = project.guard("check", "-v")
    assert (ran.returncode, ran.stdout.splitlines()[-1].split(" in ")[0]) == (0, "4 hold")


def test_two_checks_of_one_file_are_refused_both(project: Project) -> None:
    project.checks(PARAMETERS.format(names=("A", "a", "e\u0301", "\u00e9", "b"), fox=""))
    ran = project.guard("update")
    assert ran.returncode == 1
    refused = re.findall(r'^refused: "(.+?)" - ', ran.stdout, re.MULTILINE)
    assert {"it::p[A]", "it::p[a]"} <= set(refused)
    assert "shares its baseline's file with another check: rename one of them" in ran.stdout
    assert "it::p[b]" not in refused
    names = [path.name.casefold() for path in (project.root / "baselines").rglob("*.graph")]
    assert len(names) == len(set(names))


def test_a_parameter_that_pytest_names_by_position_for_its_length_is_refused(project: Project) -> None:
    project.checks(
        """
        import pytest
        @pytest.mark.parametrize("text", ["short", "x" * 300])
        def test_p(guard, text): guard.check(lambda: ["aten.sin.default"], tracer=None)
        """
    )
    ran = project.guard("check")
    if "it::p[text1]" not in ran.stdout:
        pytest.skip("this pytest spells long texts in full")
    assert 'refused: "it::p[text1]" - pytest named the parameter "text" by its position' in ran.stdout


def test_checks_of_one_name_in_two_packages_are_two(project: Project) -> None:
    for folder in ("", "sub/", "sub/sub/"):
        project.write(f"checks/{folder}__init__.py", "")
        project.write(f"checks/{folder}test_it.py", ONE)
    assert project.guard("update").returncode == 0
    ran = project.guard("check")
    assert (ran.returncode, ran.stdout.split(" in ")[0]) == (0, "3 hold")


def test_a_project_below_spaces_and_emoji(project: Project, tmp_path: Path) -> None:
    home = tmp_path / "a b \U0001f98a" / "\u00e9 'x'"
    home.parent.mkdir()
    project.checks(ONE)
    project.root.rename(home)
    project.root = home
    assert project.guard("update").returncode == 0
    ran = project.guard("check", cwd="checks")
    assert (ran.returncode, ran.stdout.split(" in ")[0]) == (0, "1 holds")


@pytest.mark.skipif(sys.platform != "linux", reason="only there are file names any bytes")
def test_a_module_whose_name_is_not_utf8_is_refused_with_the_reason(project: Project) -> None:
    project.checks(ONE)
    path = os.fsencode(project.root / "checks") + b"/test_\xff.py"
    with open(path, "w", encoding="utf-8") as stream:  # noqa: PTH123 - pathlib takes no bytes
        stream.write(ONE)
    ran = project.guard("check")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert 'error: "checks/test_\\udcff.py" is no UTF-8' in ran.stderr


def test_a_locale_that_cannot_spell_the_path_is_refused_with_the_way_out(project: Project, tmp_path: Path) -> None:
    project.checks(ONE)
    project.root = project.root.rename(tmp_path / "\u00e9")
    project.environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ran = project.guard("check")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "is no UTF-8 in this locale" in ran.stderr
    assert "PYTHONUTF8=1" in ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only there are file names any bytes")
def test_a_baseline_whose_name_names_no_check_is_a_problem_not_an_orphan(project: Project) -> None:
    project.checks(ONE)
    assert project.guard("update").returncode == 0
    for name in (b"/\xff.graph", b"/it%3A%3Atwo.graph%2Egraph", b"/a%41.graph"):
        with open(os.fsencode(project.root / "baselines") + name, "wb") as stream:  # noqa: PTH123 - as above
            stream.write(b"x")
    ran = project.guard("check")
    assert ran.returncode == 1
    assert "meant to go?" not in ran.stdout
    assert ran.stdout.count("is no baseline's name") == 2  # %2Egraph is no .graph

"""``guard check`` from end to end, on a project whose tracer is a fake."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from guard.commands.collection import Collection
from guard.commands.recorder import Recorder
from guard.commands.run import Ended, lost
from guard.config import Config
from guard.findings import Finding, Outcome
from tests.project import Project, empty_project

TWO = """
def test_one(guard): guard.check(lambda: ["aten.sin.default", "aten.cos.default"], tracer=None)
def test_two(guard):
    guard.check(lambda: ["aten.sin.default"], tracer=None)
    guard.check(lambda: ["aten.cos.default"], tracer=None, name="again")
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with three baselines of two tests, recorded once: a run of guard is the slow part of these tests."""
    made = empty_project(tmp_path_factory.mktemp("template") / "project")
    made.checks(TWO)
    return made.record()


@pytest.fixture
def recorded(template: Path, tmp_path: Path) -> Project:
    """A copy of the template."""
    shutil.copytree(template, tmp_path / "project")
    return Project(tmp_path / "project")


def run(project: Project, *arguments: str) -> dict[str, Any]:
    ran = project.guard("check", "--format", "json", *arguments)
    found: dict[str, Any] = json.loads(ran.stdout)
    assert found["exit_code"] == ran.returncode
    return found


def findings(run: dict[str, Any]) -> dict[str, str]:
    return {outcome["check"] or outcome["nodeid"]: outcome["status"] for outcome in run["outcomes"]}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_checks_that_hold_exit_0_and_write_nothing(recorded: Project) -> None:
    before = files(recorded.root / "baselines")
    found = run(recorded)
    assert (found["exit_code"], found["counts"], found["full"], found["collected"]) == (0, {"holds": 3}, True, 2)
    assert found["environment"]["device"] == "cpu"
    assert files(recorded.root / "baselines") == before
    assert recorded.pending() == []
    assert not (recorded.root / ".guard" / "run").exists()


def test_a_changed_operation_is_drift_that_accept_takes(recorded: Project) -> None:
    recorded.checks(TWO.replace('["aten.sin.default", "aten.cos.default"]', '["aten.sin.default", "aten.tan.default"]'))
    ran = recorded.guard("check")
    assert ran.returncode == 1
    assert 'drift: "it::one" - structure, cos -> tan\n' in ran.stdout
    assert "  - %1: f32[4] = aten.cos.default(%0)\n" in ran.stdout
    assert "  + %1: f32[4] = aten.tan.default(%0)  checks/test_it.py:2\n" in ran.stdout
    assert '  intended? guard accept "it::one"\n' in ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("2 hold, 1 drift in ")
    assert recorded.pending() == ["it/one.graph"]
    assert recorded.guard("accept", "it::one").returncode == 0
    assert run(recorded)["counts"] == {"holds": 1, "unchanged": 2}


def test_fixes_off_leaves_nothing_that_can_be_accepted(recorded: Project) -> None:
    recorded.checks(TWO.replace("aten.cos", "aten.tan"))
    assert run(recorded, "--fixes", "off")["exit_code"] == 1
    refused = recorded.guard("accept", "--all")
    assert refused.returncode == 2
    assert "fixes" in refused.stderr + refused.stdout


@pytest.mark.parametrize("selectors", [("it::o*", "baselines/it/one.graph"), ("-k", "one")], ids=["ids", "keyword"])
def test_a_selection_runs_what_it_names_and_judges_no_orphans(recorded: Project, selectors: tuple[str, ...]) -> None:
    recorded.checks(TWO.split("def test_two", maxsplit=1)[0])
    found = run(recorded, *selectors)
    assert findings(found) == {"it::one": "holds"}
    assert not found["full"]


def test_a_full_run_finds_orphans_and_accept_removes_them(recorded: Project) -> None:
    recorded.checks(TWO.replace(', name="again"', ', name="later"'))
    found = run(recorded)
    # a test that did not hold may not have got to its other calls
    assert findings(found) == {"it::one": "holds", "it::two": "holds", "it::two#later": "missing"}
    assert recorded.guard("accept", "--all").returncode == 0
    assert findings(run(recorded))["it::two#again"] == "orphan"
    assert recorded.guard("accept", "it::two#again").returncode == 0
    assert run(recorded)["exit_code"] == 0
    assert not (recorded.root / "baselines/it/two#again.graph").exists()


def test_what_names_no_check(recorded: Project) -> None:
    word = recorded.guard("check", "nothing_like_this")
    assert (word.returncode, "nothing was checked" in word.stdout) == (4, True)
    assert 'no check is named "nothing_like_this"' in word.stdout
    wrong = recorded.guard("check", "it::on")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert 'unknown check "it::on"' in wrong.stderr
    assert '"it::one"' in wrong.stderr
    mixed = recorded.guard("check", "it::one", "nothing_like_this")
    assert (mixed.returncode, "nothing_like_this" in mixed.stderr) == (2, True)
    keyword = recorded.guard("check", "-k", "zz")
    assert (keyword.returncode, "-k 'zz' leaves none of 2 checks" in keyword.stdout) == (4, True)
    expression = recorded.guard("check", "-k", "a b")
    assert (expression.returncode, '"a b" is no expression for -k' in expression.stderr) == (2, True)
    flag = recorded.guard("check", "--", "--no-such-flag")
    assert (flag.returncode, "--no-such-flag" in flag.stderr) == (2, True)


def test_modules_that_do_not_import_are_told_and_the_others_checked(recorded: Project) -> None:
    recorded.checks("import does_not_exist", name="test_import")
    recorded.checks("def broken(:\n    pass", name="test_syntax")
    recorded.checks("import os\n\nos.abort()", name="test_abort")
    recorded.checks("while True: pass", name="test_spin")
    recorded.checks("def test_three(guard): guard.check(lambda: ['a.b.c'], tracer=None)", name="test_other")
    ran = recorded.guard("check", "--timeout", "2")
    assert ran.returncode == 2
    assert "import: \"checks/test_import.py\" - ModuleNotFoundError: No module named 'does_not_exist'" in ran.stdout
    assert "at checks/test_import.py:1" in ran.stdout
    assert 'import: "checks/test_syntax.py" - SyntaxError: invalid syntax' in ran.stdout
    assert 'import: "checks/test_abort.py" - SIGABRT while importing' in ran.stdout
    assert "in checks/test_abort.py:3 in <module>" in ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("3 hold, 4 import errors, 1 missing in ")
    told = "no end after 2 s, and no return to Python, while importing"
    assert f'import: "checks/test_spin.py" - {told}' in ran.stdout


def test_a_conftest_that_does_not_import_is_told(recorded: Project) -> None:
    recorded.write("checks/conftest.py", "import does_not_exist")
    ran = recorded.guard("check")
    assert (ran.returncode, ran.stderr) == (2, "")
    assert "conftest.py\" - ModuleNotFoundError: No module named 'does_not_exist'" in ran.stdout


def test_workers_that_cannot_start_are_not_started_for_ever(recorded: Project) -> None:
    recorded.write(
        "checks/conftest.py",
        """
        import os

        def pytest_sessionstart(session):
            if hasattr(session.config, "workerinput"):
                os._exit(7)
        """,
    )
    ran = recorded.guard("check")
    assert ran.returncode == 2
    assert 'import: "checks" - exit 7 without a result while starting' in ran.stdout


def test_a_check_of_which_nothing_was_heard_is_told() -> None:
    config = Config(Path(), Path("checks"), Path("baselines"), Path(".guard"))
    recorder = Recorder(config, Path(), lambda *_: None, outcomes=[Outcome("a::b#name", "checks/test_a.py::test_b")])
    ended = Ended(recorder, 0, "", Collection(selected=("a::b", "a::c")))
    assert [(outcome.check, outcome.status) for outcome in lost(ended)] == [("a::c", "crash")]
    recorder.stopped = True
    assert len(lost(ended)) == 1
    recorder.outcomes.append(Outcome("a::d", "", (Finding("drift", "a::d", "+1 node"),)))
    assert lost(ended) == ()


@pytest.mark.parametrize("end", ["raise KeyboardInterrupt", "pytest.exit('enough')"], ids=["interrupt", "exit"])
def test_a_check_that_stops_the_run_does_not_make_it_pass(recorded: Project, end: str) -> None:
    recorded.checks(f"import pytest\n{TWO}\ndef test_zero(guard): {end}")
    found = run(recorded)
    assert found["exit_code"] == 1
    outcome = next(outcome for outcome in found["outcomes"] if outcome["check"] == "it::zero")
    told = "a KeyboardInterrupt or pytest.exit ended its worker"
    assert [(finding["kind"], finding["title"]) for finding in outcome["findings"]] == [("crash", told)]
    assert not found["full"]


def test_folders_of_runs_that_were_killed_are_removed(recorded: Project) -> None:
    recorded.write(".guard/run/4194305/gw0.crumb", "")  # above Linux's largest process id
    assert run(recorded, "it::one")["exit_code"] == 0
    assert not (recorded.root / ".guard/run").exists()


def test_junit_s_file_is_pytest_s_own(recorded: Project) -> None:
    assert run(recorded, "--junitxml", "junit.xml")["exit_code"] == 0
    told = (recorded.root / "junit.xml").read_text()
    assert 'tests="2"' in told
    assert 'failures="0"' in told


def test_no_checks_folder(project: Project) -> None:
    (project.root / "checks" / "conftest.py").unlink()
    (project.root / "checks").rmdir()
    ran = project.guard("check")
    assert ran.returncode == 2
    assert 'import: "checks" - no such folder' in ran.stdout


def test_an_empty_checks_folder_checks_nothing(project: Project) -> None:
    ran = project.guard("check")
    assert (ran.returncode, 'no tests below "checks"' in ran.stdout) == (4, True)


def test_every_kind_of_result(project: Project) -> None:
    before = """
    import pytest
    def test_drifts(guard): guard.check(lambda: ["a.b.c"], tracer=None)
    def test_starts_to_fail(guard): guard.check(lambda: ["a.b.c"], tracer=None)
    def test_fails_differently(guard): guard.check(lambda: ["fails: first"], tracer=None)
    def test_fails_the_same(guard): guard.check(lambda: ["fails: first"], tracer=None)
    def test_works_now(guard): guard.check(lambda: ["fails: first"], tracer=None)
    def test_needs_a_fix(guard): guard.check(lambda: ["needs isolation", "a.b.c"], tracer=None)
    def test_needs_none(guard): guard.check(lambda: ["needs nothing", "a.b.c"], tracer=None)
    def test_unreadable(guard): guard.check(lambda: ["a.b.c"], tracer=None)
    """
    project.checks(before)
    assert project.guard("update").returncode == 0
    project.write("baselines/it/unreadable.graph", "guard-graph 1\ncheck it::unreadable\n<<<<<<< HEAD\n")
    for test, after in (
        ("drifts", "a.b.d"),
        ("starts_to_fail", "fails: new"),
        ("fails_differently", "fails: second"),
        ("works_now", "a.b.c"),
    ):
        head, _, tail = before.partition(f"test_{test}(guard): guard.check(lambda: [")
        before = f'{head}test_{test}(guard): guard.check(lambda: ["{after}"]{tail.partition("]")[2]}'
    project.checks(
        before
        + """
    def test_missing(guard): guard.check(lambda: ["a.b.c"], tracer=None)
    def test_breaks(guard): guard.check(lambda: ["breaks"], tracer=None)
    def test_empty(): pass
    def test_fails(guard):
        guard.check(lambda: ["a.b.c"], tracer=None, name="x")
        assert 1 == 2
    @pytest.mark.skip(reason="not now")
    def test_skipped(guard): pass
    @pytest.mark.xfail(reason="a known bug", strict=True)
    def test_expected(guard): assert 0
    def test_set_up(no_such_fixture): pass
    def test_tear_down(guard, request):
        request.addfinalizer(lambda: 1 / 0)
        guard.check(lambda: ["a.b.c"], tracer=None)
    """
    )
    found = run(project)
    assert found["exit_code"] == 3
    assert findings(found) == {
        "it::drifts": "drift",
        "it::starts_to_fail": "error",
        "it::fails_differently": "error",
        "it::fails_the_same": "holds",
        "it::works_now": "works",
        "it::needs_a_fix": "holds",
        "it::needs_none": "holds",
        "it::unreadable": "unreadable",
        "it::missing": "missing",
        "it::breaks": "internal",
        "it::empty": "empty",
        "it::fails#x": "missing",
        "it::skipped": "skipped",
        "it::expected": "skipped",
        "it::set_up": "failed",
        "it::tear_down": "missing",
    }
    by_id = {outcome["check"]: outcome for outcome in found["outcomes"]}
    assert by_id["it::needs_a_fix"]["needs"] == ["isolation"]
    assert by_id["it::needs_none"]["needs"] == []
    assert by_id["it::skipped"]["skipped"] == "not now"
    assert by_id["it::expected"]["skipped"] == "expected to fail: a known bug"
    assert [finding["kind"] for finding in by_id["it::fails#x"]["findings"]] == ["missing", "failed"]
    assert by_id["it::fails#x"]["findings"][1]["title"] == "assert 1 == 2"
    assert "fixture 'no_such_fixture' not found" in str(by_id["it::set_up"]["findings"])
    assert "while tearing down: ZeroDivisionError" in by_id["it::tear_down"]["findings"][1]["title"]
    assert "project#1: a known cause" in by_id["it::starts_to_fail"]["findings"][0]["lines"]
    assert by_id["it::unreadable"]["findings"][0]["source"].startswith("baselines/it/unreadable.graph:3:")
    assert "it/breaks.graph" not in project.pending()


def test_the_policy_on_fixes(project: Project) -> None:
    project.checks('def test_one(guard): guard.check(lambda: ["needs isolation", "a.b.c"], tracer=None)')
    assert project.guard("update").returncode == 0
    config = project.root / "pyproject.toml"
    config.write_text(config.read_text().replace("[tool.guard]\n", '[tool.guard]\nfixes = "fail"\n'))
    assert findings(run(project)) == {"it::one": "fix"}


def test_x_stops_at_the_first_finding(recorded: Project) -> None:
    recorded.checks(TWO.replace("aten.sin", "aten.tan"))
    found = run(recorded, "-x", "-n", "1")
    assert found["counts"] == {"drift": 1}
    assert not found["full"]


def test_the_project_s_own_pytest_configuration_does_not_hurt(recorded: Project) -> None:
    recorded.write(
        "pytest.ini",
        "[pytest]\naddopts = -n 2 --dist loadgroup --strict-markers -v\nfilterwarnings = error\ntimeout = 1\n",
    )
    assert run(recorded)["counts"] == {"holds": 3}


def test_from_a_folder_below_with_many_workers_and_hash_seeds(recorded: Project) -> None:
    for seed in ("0", "1"):
        recorded.environment = {"PYTHONHASHSEED": seed}
        ran = recorded.guard("check", "-n", "2", cwd="checks")
        assert (ran.returncode, ran.stderr) == (0, "")
    assert recorded.pending() == []


def test_what_checks_print_reaches_nobody(recorded: Project) -> None:
    recorded.checks(
        TWO.replace("\n    guard.check", "\n    import os; os.write(2, b'noise'); print('noise'); guard.check", 1)
    )
    ran = recorded.guard("check", "--format", "json")
    assert "noise" not in ran.stdout + ran.stderr
    assert json.loads(ran.stdout)["counts"] == {"holds": 3}


def test_pdb_has_no_workers_and_shows_pytest(recorded: Project) -> None:
    recorded.checks("def test_one(guard): assert 0")
    ran = recorded.guard("check", "--pdb", "it::one")  # stdin is empty: the debugger leaves at once
    assert "(Pdb)" in ran.stdout
    assert "test session starts" in ran.stdout


def test_interrupted_ends_the_workers(recorded: Project) -> None:
    recorded.checks(
        """
        import os, pathlib, time

        def hang():
            pathlib.Path(__file__).with_name("pid").write_text(str(os.getpid()))
            time.sleep(1000)

        def test_hangs(guard): guard.check(hang, tracer=None)
        """
    )
    process = recorded.start("check")
    pid = recorded.root / "checks" / "pid"
    deadline = time.monotonic() + 30
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    worker = int(pid.read_text())
    process.send_signal(signal.SIGINT)
    interrupted = time.monotonic()
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - interrupted < 5  # seconds; 0.4, but 10 where xdist waits for a worker that hangs
    assert process.returncode == 130, out + err
    assert out.splitlines()[-1].startswith("interrupted: ")
    assert "Traceback" not in out + err
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
    assert not list(recorded.root.glob(".guard/run/*"))

"""The workflow of ``guard init``, with torch, and the project's own, with the fake tracer: what a fault makes of each.

Each repository has two checks, and each shard runs one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.act.workflow import INIT, OWN, SHARDS

if TYPE_CHECKING:
    from tests.act.workflow import Act, Run

pytestmark = pytest.mark.timeout(600)

NO_FIX = """\
from importlib import import_module

table = import_module("guard.tracers.fixes.table")
table.FIXES = tuple(fix for fix in table.FIXES if fix.name != "nested-isolation")
"""


class Plant(NamedTuple):
    """A fault of the commit, and what must be said of it."""

    edits: tuple[tuple[str, str, str], ...] = ()
    """File, text, text in its place; no old text is a new file, no new text a file that is gone."""
    title: str = ""
    """Of the annotation."""
    message: tuple[str, ...] = ()
    """Parts of the annotation."""
    summary: tuple[str, ...] = ()
    """Parts of the summary, of the shard's and of the merge's."""
    where: str = "checks/test_model.py"


IN_TORCH = {
    "drift": Plant(
        (("checks/test_model.py", ".relu()", ".sigmoid()"),),
        'drift: "model::step"',
        ("relu -> sigmoid", "aten.sigmoid.default", 'guard accept "model::step"'),
        ("1 drift", "`model::step`", "\n+ %1: f32[4, 2] = aten.sigmoid.default(%0)", 'guard accept "model::step"'),
    ),
    "proxy error": Plant(
        (("checks/conftest.py", "", NO_FIX),),
        'error: "model::nested"',
        ("untracked-proxy", "is not tracked with proxy"),
        ("1 error", "`model::nested`", "is not tracked with proxy"),
    ),
    "crash": Plant(
        (("checks/test_model.py", "    return (x @ y)", "    import os; os.abort()\n    return (x @ y)"),),
        'crash: "model::step"',
        ("SIGABRT while tracing", "in step"),
        ("1 crash", "`model::step`", "SIGABRT while tracing"),
    ),
    "missing baseline": Plant(
        (("baselines/model/step.graph", "guard-graph", ""),),
        'missing: "model::step"',
        ("no baseline", 'guard accept "model::step"'),
        ("1 missing", "`model::step`", "no baseline"),
    ),
    "costlier trace": Plant(
        (("checks/test_model.py", "    return (x @ y)", "    [abs(i) for i in range(2000)]\n    return (x @ y)"),),
        'trace-cost: "model::step"',
        ("calls, was", "(tolerance 1 %)", "checks/test_model.py:step", 'guard accept "model::step"'),
        ("costs more to trace", "`model::step`", "checks/test_model.py:step"),
    ),
}
IN_FAKE = {
    "drift": Plant(
        (("model.py", "cos", "tan"),),
        'drift: "it::one"',
        ("cos -> tan", 'guard accept "it::one"'),
        ("1 drift", "| drift: structure | `it::one` |", "\n+ %1: f32[4] = aten.tan.default(%0)"),
        "checks/test_it.py",
    ),
    "proxy error": Plant(
        (("model.py", 'return ["', 'return ["fails: x is not tracked with proxy", "'),),
        'error: "it::one"',
        ("untracked-proxy", "x is not tracked with proxy"),
        ("1 error", "| error | `it::one` |", "x is not tracked with proxy"),
        "checks/test_it.py",
    ),
    "crash": Plant(
        (("model.py", "return", "import os; os.abort(); return"),),
        'crash: "it::one"',
        ("SIGABRT while tracing",),
        ("1 crash", "| crash | `it::one` |"),
        "checks/test_it.py",
    ),
    "missing baseline": Plant(
        (("baselines/it/one.graph", "guard-graph", ""),),
        'missing: "it::one"',
        ("no baseline", 'guard accept "it::one"'),
        ("1 missing", "| missing | `it::one` |"),
        "checks/test_it.py",
    ),
}
# the one that make test runs, too
QUICK = [name if name == "drift" else pytest.param(name, marks=pytest.mark.prove) for name in IN_FAKE]


def plant(act: Act, fault: Plant) -> None:
    for name, old, new in fault.edits:
        path = act.repository.top / name
        if not new:
            path.unlink()
        elif not old:
            act.repository.write(name, new)
        else:
            text = path.read_text(encoding="utf-8")
            assert old in text
            path.write_text(text.replace(old, new), encoding="utf-8")
    act.repository.commit("plant")


def the_failed_shard(run: Run) -> str:
    failed = [shard for shard in SHARDS if run.results()[shard] == "failure"]
    assert len(failed) == 1, run.story()
    return failed[0]


def judge(run: Run, fault: Plant) -> None:
    """Demand that the shard with the fault and the merge failed, nothing else, and that both say why."""
    shard = the_failed_shard(run)
    assert run.code == 1
    assert run.results() == dict.fromkeys(SHARDS, "success") | {shard: "failure", "guard": "failure"}
    for job in (shard, "guard"):
        told = [note for note in run.annotations(job) if note.level == "error" and note.title == fault.title]
        assert len(told) == 1, run.annotations(job)
        assert told[0].where.partition(":")[0] == fault.where
        assert [part for part in fault.message if part not in told[0].message] == [], told[0].message
        assert [part for part in fault.summary if part not in run.summary(job)] == [], run.summary(job)
    assert "1 holds" in run.summary("guard")


@pytest.mark.prove
def test_all_is_green(real: Act) -> None:
    run = real.run(INIT)

    assert run.results() == dict.fromkeys((*SHARDS, "guard"), "success"), run.story()
    assert run.code == 0
    assert [note for job in run.results() for note in run.annotations(job)] == []
    assert "### guard: 2 hold" in run.summary("guard")


@pytest.mark.prove
@pytest.mark.parametrize("name", IN_TORCH)
def test_a_fault_fails_its_shard_and_the_merge_and_both_say_why(real: Act, name: str) -> None:
    plant(real, IN_TORCH[name])

    judge(real.run(INIT), IN_TORCH[name])


@pytest.mark.prove
def test_all_is_green_in_this_project_s_own_workflow(fake: Act) -> None:
    run = fake.run(OWN)

    assert run.results() == dict.fromkeys((*SHARDS, "guard"), "success"), run.story()
    assert run.code == 0
    assert [note for job in run.results() for note in run.annotations(job)] == []
    assert [run.outputs(shard)["counts"] for shard in SHARDS] == ['{"holds":1}'] * 2
    assert "### guard: 2 hold" in run.summary("guard")
    assert "gpu: not run (no runner)" in run.summary("guard")
    assert run.uploaded() == ["guard-report", "guard-report-cpu-1", "guard-report-cpu-2"]


@pytest.mark.parametrize("name", QUICK)
def test_a_fault_fails_its_shard_and_the_merge_of_this_project_s_own_workflow(fake: Act, name: str) -> None:
    plant(fake, IN_FAKE[name])

    judge(fake.run(OWN), IN_FAKE[name])


@pytest.mark.prove
def test_what_a_check_says_is_no_command_to_the_runner(fake: Act) -> None:
    path = fake.repository.top / "checks/test_it.py"
    text = path.read_text(encoding="utf-8")
    hostile = "x\\n::error title=planted::x\\n::set-output name=planted::x\\n##[error]planted"
    path.write_text(text.replace("): guard", f'): raise AssertionError("{hostile}"); guard', 1), encoding="utf-8")
    fake.repository.commit("hostile")

    run = fake.run(OWN)

    for job in (the_failed_shard(run), "guard"):
        assert "  ::error title=planted::x\n" in run.said(job)
        assert run.obeyed(job) == []
        assert [note.title for note in run.annotations(job)] == ['failed: "it::one"']


@pytest.mark.prove
def test_a_project_below_the_repository_s_root(below: Act) -> None:
    below.repository.write("product/model.py", 'def ops(): return ["aten.sin.default", "aten.tan.default"]\n')
    below.repository.commit("moved")

    run = below.run(".github/workflows/guard-product.yml")

    shard = the_failed_shard(run)
    for job in (shard, "guard"):
        assert [(note.title, note.where) for note in run.annotations(job)] == [
            ('drift: "it::one"', "product/checks/test_it.py:2")
        ], run.annotations(job)
    assert any(name.startswith("guard-product-pending-cpu-") for name in run.uploaded()), run.uploaded()

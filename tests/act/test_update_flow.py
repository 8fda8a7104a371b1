"""guard-update.yml and guard-nightly.yml: what moved goes to whoever reviews it, and news is no failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.project import Project, model

if TYPE_CHECKING:
    from tests.act.workflow import Act

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

UPDATE = ".github/workflows/own-guard-update.yml"
NIGHTLY = ".github/workflows/own-guard-nightly.yml"


def moved(act: Act) -> tuple[Project, str]:
    """Commit a program that moved; return its project and the commit."""
    project = Project(act.repository.top)
    model(project, "tan")
    return project, act.repository.commit("moved")


def test_what_a_branch_changed_is_an_artifact_of_its_commit_that_accept_takes(fake: Act) -> None:
    project, commit = moved(fake)

    run = fake.run(UPDATE, event="workflow_dispatch")

    assert run.results() == {"re-record on cpu": "success"}, run.story()
    assert run.uploaded() == [f"guard-pending-cpu-{commit}"]
    assert "1 drift" in run.summary("re-record on cpu")
    artifact = run.artifacts / f"guard-pending-cpu-{commit}"
    before = (project.root / "baselines/it/one.graph").read_text(encoding="utf-8")
    done = project.guard("accept", "--from", str(artifact), "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'accepted: "it::one"' in done.stdout
    after = (project.root / "baselines/it/one.graph").read_text(encoding="utf-8")
    assert after == before.replace("cos", "tan")
    assert project.guard("check").returncode == 0


def test_what_another_commit_saw_is_refused(fake: Act) -> None:
    project, commit = moved(fake)
    run = fake.run(UPDATE, event="workflow_dispatch")
    model(project, "exp")
    fake.repository.commit("moved on")

    done = project.guard("accept", "--from", str(run.artifacts / f"guard-pending-cpu-{commit}"), "--all")

    assert done.returncode == 2, done.stdout + done.stderr
    assert "tan" not in (project.root / "baselines/it/one.graph").read_text(encoding="utf-8")


def test_nothing_moved_is_no_artifact(fake: Act) -> None:
    run = fake.run(UPDATE, event="workflow_dispatch")

    assert run.results() == {"re-record on cpu": "success"}, run.story()
    assert run.uploaded() == []


def test_an_update_records_what_it_was_asked_to(fake: Act) -> None:
    moved(fake)

    run = fake.run(UPDATE, event="workflow_dispatch", payload={"inputs": {"checks": "it::two"}})

    assert run.results() == {"re-record on cpu": "success"}, run.story()
    assert run.uploaded() == []


def test_an_update_that_could_not_check_fails(fake: Act) -> None:
    run = fake.run(UPDATE, event="workflow_dispatch", payload={"inputs": {"checks": "it::nothing"}})

    assert run.results() == {"re-record on cpu": "failure"}
    assert "it::nothing" in run.said("re-record on cpu")


def test_a_gpu_that_is_not_there_re_records_nothing(fake: Act) -> None:
    run = fake.run(UPDATE, "--var", "GUARD_GPU_RUNNER=gpu", event="workflow_dispatch")

    assert run.results() == {"re-record on cpu": "success", "re-record on gpu": "failure"}, run.story()
    assert "no CUDA device" in run.said("re-record on gpu")


@pytest.mark.parametrize("program", ["def ops(): return ['aten.tan.default']", "import os; os.abort()"])
def test_the_nightly_tells_and_is_never_red(fake: Act, program: str) -> None:
    fake.repository.write("model.py", program + "\n")
    fake.repository.commit("churns")

    run = fake.run(NIGHTLY, event="schedule")

    assert run.results() == {"newest torch": "success"}, run.story()
    assert run.code == 0
    assert run.annotations("newest torch") == []
    assert "guard-nightly: torch " in run.summary("newest torch")
    assert "exit code 0" not in run.summary("newest torch")
    assert run.uploaded() == ["guard-nightly"]


def test_the_nightly_is_not_red_where_nothing_could_be_installed(fake: Act) -> None:
    path = fake.repository.top / NIGHTLY
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("python -m pip install --quiet --pre torch numpy", "exit 1"), encoding="utf-8")
    fake.repository.commit("nothing to install")

    run = fake.run(NIGHTLY, event="schedule")

    assert run.results() == {"newest torch": "success"}, run.story()
    assert "no newer torch could be installed" in run.summary("newest torch")

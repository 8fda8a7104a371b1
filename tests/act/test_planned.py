"""guard.yml where not everything that was planned arrives: a shard, the GPU, a fork's pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.act.workflow import INIT, OWN, SHARDS

if TYPE_CHECKING:
    from tests.act.workflow import Act

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

MISSING = ('shard: "2/2"', "this shard did not arrive")
GPU_RUNNER = ("--var", "GUARD_GPU_RUNNER=gpu")
FORK: dict[str, Any] = {
    "pull_request": {
        "number": 7,
        "head": {"ref": "change", "sha": "0" * 40, "repo": {"full_name": "stranger/project"}},
        "base": {"ref": "main", "sha": "0" * 40},
    },
    "repository": {"full_name": "owner/project"},
}


workflows = pytest.mark.parametrize("workflow", [OWN, INIT], ids=["own", "init"])


def gpu_is(policy: str, act: Act) -> None:
    path = act.repository.top / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[tool.guard]\n", f'[tool.guard]\ngpu = "{policy}"\n'), encoding="utf-8")
    act.repository.commit("policy")


@workflows
def test_a_shard_that_did_not_run_fails_the_merge_which_names_it(fake: Act, workflow: str) -> None:
    run = fake.run(workflow, "--matrix", "shard:1", event="pull_request", payload=FORK)

    assert run.results() == {SHARDS[0].removesuffix("-1"): "success", "guard": "failure"}, run.story()
    assert [name for name in run.uploaded() if "-cpu-" in name] == ["guard-report-cpu-1"]
    assert [(note.title, note.message) for note in run.annotations("guard")] == [MISSING]
    assert "| shard | `2/2` | `this shard did not arrive` |" in run.summary("guard")


def test_a_shard_whose_report_is_lost_fails_the_merge_though_all_its_checks_hold(fake: Act) -> None:
    path = fake.repository.top / "action.yml"
    text = path.read_text(encoding="utf-8")
    lost = '        [[ "${SHARD}" != 2/2 ]] || rm -r "${report}"\n        exit "${code}"\n'
    path.write_text(text.replace('        exit "${code}"\n', lost), encoding="utf-8")
    fake.repository.commit("loses a report")

    run = fake.run(OWN)

    assert run.results() == dict.fromkeys(SHARDS, "success") | {"guard": "failure"}, run.story()
    assert [(note.title, note.message) for note in run.annotations("guard")] == [MISSING]


@workflows
def test_a_gpu_job_without_a_gpu_fails_and_so_does_the_merge(fake: Act, workflow: str) -> None:
    run = fake.run(workflow, *GPU_RUNNER)

    assert run.results() == dict.fromkeys(SHARDS, "success") | {"gpu": "failure", "guard": "failure"}, run.story()
    assert "no CUDA device" in run.annotations("gpu")[0].message
    assert any("cuda" in note.title + note.message for note in run.annotations("guard")), run.said("guard")
    assert "cuda" in run.summary("guard")


@workflows
def test_a_fork_runs_no_gpu_job_and_the_summary_says_so(fake: Act, workflow: str) -> None:
    run = fake.run(workflow, *GPU_RUNNER, event="pull_request", payload=FORK)

    assert run.results() == dict.fromkeys((*SHARDS, "guard"), "success"), run.story()
    assert "gpu: not run (fork)" in run.summary("guard")


def test_a_pull_request_of_the_repository_itself_runs_the_gpu_job(fake: Act) -> None:
    pull = {**FORK["pull_request"], "head": {"ref": "change", "repo": {"full_name": "owner/project"}}}

    run = fake.run(OWN, *GPU_RUNNER, event="pull_request", payload={**FORK, "pull_request": pull})

    assert run.results()["gpu"] == "failure"  # there is none here


@pytest.mark.parametrize(
    ("policy", "event", "result"),
    [
        ("required", "pull_request", "failure"),
        ("required", "push", "failure"),
        ("unless-fork", "pull_request", "success"),
        ("unless-fork", "push", "failure"),
    ],
)
def test_policy_decides_what_a_gpu_that_was_left_out_is(fake: Act, policy: str, event: str, result: str) -> None:
    gpu_is(policy, fake)

    run = fake.run(OWN, event=event, payload=FORK if event == "pull_request" else {})

    why = "fork" if event == "pull_request" else "no runner"
    assert run.results() == dict.fromkeys(SHARDS, "success") | {"guard": result}, run.story()
    assert f"not run ({why})" in run.summary("guard")

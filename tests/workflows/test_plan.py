"""guard.yml plans its shards in three places, leaves forks off own hardware, and has one job to require."""

from __future__ import annotations

import re

from tests.project import ROOT

TEXT = (ROOT / ".github/workflows/guard.yml").read_text(encoding="utf-8")
JOBS = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", TEXT.partition("\njobs:\n")[2] + "\n", re.MULTILINE))


def test_shards_are_as_many_as_the_merge_expects() -> None:
    matrix = re.search(r"shard: \[([\d, ]+)\]", JOBS["cpu"])
    asked = re.findall(r"shard: \$\{\{ matrix\.shard \}\}/(\d+)", JOBS["cpu"])
    expected = re.findall(r"--expect (\d+)", JOBS["guard"])

    assert matrix is not None
    shards = [int(number) for number in matrix[1].split(",")]
    assert shards == list(range(1, len(shards) + 1))
    assert [int(count) for count in (*asked, *expected)] == [len(shards)] * 2


def test_the_job_to_require_always_runs_and_needs_all_others() -> None:
    needs = re.search(r"^    needs: \[([\w, ]+)\]$", JOBS["guard"], re.MULTILINE)

    assert needs is not None
    assert set(needs[1].split(", ")) == JOBS.keys() - {"guard"}
    assert "\n    if: always()\n" in JOBS["guard"]


def test_own_hardware_runs_no_code_of_forks() -> None:
    for name, job in JOBS.items():
        own = "self-hosted" in job
        assert own == ("github.event.pull_request.head.repo.full_name == github.repository" in job), name
    assert sum("self-hosted" in job for job in JOBS.values()) == 1


def test_a_gpu_job_requires_its_device() -> None:
    action = (ROOT / "action.yml").read_text(encoding="utf-8")

    assert "device: cuda" in JOBS["gpu"]
    assert '[[ "${DEVICE}" == cpu ]] || arguments+=("--require-device=${DEVICE%%:*}")' in action

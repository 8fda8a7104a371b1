"""Updates that are killed, and many writers at once: each baseline is whole, of before or after, and none is lost."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import TYPE_CHECKING

import pytest

from guard.baselines.disk import TEMPORARY

if TYPE_CHECKING:
    from tests.project import Project

COUNT = 12
SOURCE = """
import pytest
OPERATION = "aten.{operation}.default"
@pytest.mark.parametrize("n", range({count}))
def test_p(guard, n): guard.check(lambda: [OPERATION] * 400, tracer=None)
"""


def write(project: Project, operation: str) -> None:
    project.checks(SOURCE.format(operation=operation, count=COUNT))


def baselines(project: Project) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (project.root / "baselines").rglob("*.graph")}


def record(project: Project) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the baselines of before, which are in place, and those of after, which the checks now give."""
    write(project, "cos")
    assert project.guard("update").returncode == 0
    after = baselines(project)
    write(project, "sin")
    assert project.guard("update").returncode == 0
    before = baselines(project)
    write(project, "cos")
    assert len(before) == len(after) == COUNT
    return before, after


def kill(project: Project, delay: float) -> None:
    process = project.start("update")
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=60)


def whole(project: Project, before: dict[str, bytes], after: dict[str, bytes]) -> int:
    """Count the baselines of after; the others are those of before."""
    found = baselines(project)
    assert found.keys() == before.keys()
    assert all(data in (before[name], after[name]) for name, data in found.items())
    return sum(data == after[name] for name, data in found.items())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="SIGKILL is POSIX's")
def test_an_update_killed_while_it_writes_leaves_whole_files_and_the_next_ends_it(project: Project) -> None:
    before, after = record(project)
    first = project.root / "baselines" / "it" / "p[0].graph"
    inode = first.stat().st_ino
    process = project.start("update")
    deadline = time.monotonic() + 60
    while first.stat().st_ino == inode and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.kill()
    process.communicate(timeout=60)
    assert whole(project, before, after) > 0
    finish(project, after)


def finish(project: Project, after: dict[str, bytes]) -> None:
    """Update once more: everything is as if nobody had been killed."""
    ran = project.guard("update")
    assert ran.returncode == 0
    assert "refused" not in ran.stderr
    assert baselines(project) == after
    assert project.pending() == []
    assert not list(project.root.rglob(f"{TEMPORARY}*"))
    assert [path.name for path in (project.root / ".guard").glob("run/*")] == []


@pytest.mark.prove
@pytest.mark.timeout(1500)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="SIGKILL is POSIX's")
def test_an_update_may_be_killed_at_any_moment(project: Project) -> None:
    before, after = record(project)
    dice = random.Random(0)  # noqa: S311 - delays, no secrets
    started = time.monotonic()
    assert project.guard("update").returncode == 0
    took = time.monotonic() - started
    states = set()
    for _ in range(int(os.environ.get("GUARD_KILLS", "60"))):
        write(project, "sin")
        assert project.guard("update").returncode == 0
        assert baselines(project) == before
        write(project, "cos")
        kill(project, dice.uniform(0, took))
        states.add(whole(project, before, after))
    finish(project, after)
    assert len(states) > 1, "no kill fell between the first write and the last, or all did: the test shows nothing"


@pytest.mark.parametrize(
    "others",
    [
        pytest.param(("update",), marks=pytest.mark.prove, id="two-updates"),
        pytest.param(("check", "accept --all", "update"), id="four-verbs"),
    ],
)
def test_verbs_at_once_lose_nothing(project: Project, others: tuple[str, ...]) -> None:
    before, after = record(project)
    assert project.guard("check").returncode == 1
    running = [project.start(*verb.split()) for verb in ("update", *others)]
    ended = [(process.communicate(timeout=100), process.returncode) for process in running]
    assert not any("Traceback" in out + error or "guard itself failed" in out + error for (out, error), _ in ended)
    assert {code for _, code in ended} <= {0, 1, 2}
    whole(project, before, after)
    finish(project, after)

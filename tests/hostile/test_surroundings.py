"""A machine that refuses: closed streams, full or read-only disks, folders without rights. A sentence, and exit 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.project import Project

ONE = 'def test_one(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)\n'
GUARD = f'"{sys.executable}" -m guard'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell and POSIX rights")


@pytest.fixture
def recorded(project: Project) -> Project:
    project.checks(ONE)
    assert project.guard("update").returncode == 0
    return project


def shell(project: Project, command: str) -> subprocess.CompletedProcess[str]:
    environment = project._environment()
    return subprocess.run(  # noqa: S602 - redirections are what is tested
        command, shell=True, cwd=project.root, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@contextmanager
def mounted(source: str, target: Path, *options: str) -> Iterator[None]:
    """Mount for a while, where this process may."""
    target.mkdir(exist_ok=True)
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("no mount on this machine")
    for option in options:
        done = subprocess.run([mount, *option.split(), source, str(target)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("this process may not mount")
    try:
        yield
    finally:
        subprocess.run([umount, str(target)], check=True)


@pytest.mark.parametrize("closed", [">&-", "<&- 2>&-"])
def test_closed_streams_keep_nothing_from_working(recorded: Project, closed: str) -> None:
    ran = shell(recorded, f"{GUARD} check {closed}")
    told = [line for line in ran.stderr.splitlines() if not line.endswith("checks done")]  # on a busy machine
    assert (ran.returncode, told) == (0, [])
    assert ran.stdout.startswith("1 holds") is (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux's device that is always full")  # noqa: PTH110 - a device
@pytest.mark.parametrize("verb", ["check", "show it::one"])
def test_an_output_that_is_full_is_a_sentence(recorded: Project, verb: str) -> None:
    ran = shell(recorded, f"{GUARD} {verb} >/dev/full")
    assert (ran.returncode, ran.stderr) == (2, 'error: "the output" cannot be used: No space left on device\n')
    assert not list((recorded.root / ".guard").glob("bug-report*"))


def test_a_working_directory_that_is_gone_is_a_sentence(recorded: Project) -> None:
    ran = shell(recorded, f"mkdir here && cd here && rmdir ../here && {GUARD} check")
    assert (ran.returncode, ran.stderr) == (2, "error: the working directory is gone\n  cd to the project\n")


def test_a_full_disk_refuses_and_the_next_try_takes_it(recorded: Project) -> None:
    with mounted("none", recorded.root / "baselines", "-t tmpfs -o size=64k"):
        recorded.checks(ONE)
        assert recorded.guard("update").returncode == 0  # the mount hides what was recorded
        baseline = recorded.root / "baselines" / "it" / "one.graph"
        before = baseline.read_bytes()
        filler = recorded.root / "baselines" / "filler"
        with pytest.raises(OSError, match="No space left"):
            filler.write_bytes(b"x" * (128 << 10))
        recorded.checks(ONE.replace('"aten.sin.default"', ", ".join(['"aten.cos.default"'] * 500)))
        ran = recorded.guard("update")
        assert (ran.returncode, baseline.read_bytes()) == (2, before)
        assert '"baselines/it/one.graph" cannot be written: No space left on device' in ran.stderr
        assert recorded.pending() == ["it/one.graph"]
        assert sorted(path.name for path in baseline.parent.iterdir()) == ["one.graph"]
        filler.unlink()
        assert recorded.guard("accept", "--all").returncode == 0
        assert recorded.guard("check").returncode == 0


def test_a_full_state_folder_is_told_and_changes_no_baseline(recorded: Project) -> None:
    baseline = recorded.root / "baselines" / "it" / "one.graph"
    before = baseline.read_bytes()
    with mounted("none", recorded.root / ".guard", "-t tmpfs -o size=64k"):
        (recorded.root / ".guard" / ".gitignore").write_text("*\n")
        with pytest.raises(OSError, match="No space left"):
            (recorded.root / ".guard" / "filler").write_bytes(b"x" * (128 << 10))
        recorded.checks(ONE.replace('"aten.sin.default"', ", ".join(['"aten.cos.default"'] * 500)))
        ran = recorded.guard("update")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "No space left on device" in ran.stderr
    assert baseline.read_bytes() == before


def test_read_only_baselines_refuse_the_accept_and_keep_what_waits(recorded: Project) -> None:
    baselines = recorded.root / "baselines"
    with mounted(str(baselines), baselines, "--bind", "-o remount,ro,bind"):
        recorded.checks(ONE.replace("sin", "cos"))
        assert recorded.guard("check").returncode == 1
        ran = recorded.guard("update")
        assert ran.returncode == 2
        assert '"baselines/it/one.graph" cannot be written: Read-only file system' in ran.stderr
        assert recorded.pending() == ["it/one.graph"]
    assert recorded.guard("accept", "--all").returncode == 0


def test_a_read_only_project_is_a_sentence(recorded: Project) -> None:
    with mounted(str(recorded.root), recorded.root, "--bind", "-o remount,ro,bind"):
        for verb in ("check", "update"):
            ran = recorded.guard(verb)
            assert (ran.returncode, ran.stdout) == (2, "")
            assert ran.stderr.endswith("cannot be made: Read-only file system\n")
        for verb in ("list", "show it::one", "accept --all", "reject --all"):
            assert recorded.guard(*verb.split()).returncode == 0


def test_what_goes_with_a_baseline_and_cannot_be_written_is_named(recorded: Project) -> None:
    (recorded.root / "baselines" / "environment.toml").unlink()
    (recorded.root / "baselines" / "environment.toml").mkdir()
    recorded.checks(ONE.replace("sin", "cos"))
    ran = recorded.guard("update")
    assert ran.returncode == 2
    assert '"baselines/environment.toml" cannot be written: Is a directory' in ran.stderr
    (recorded.root / "baselines" / "environment.toml").rmdir()
    assert recorded.guard("accept", "--all").returncode == 0
    assert recorded.guard("check").returncode == 0


@pytest.mark.parametrize(
    ("folder", "verb"), [("baselines", "list"), ("checks", "check"), ("pyproject.toml", "check"), (".guard", "check")]
)
def test_rights_that_are_missing_are_named(recorded: Project, folder: str, verb: str) -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may drop its rights")
    (recorded.root / folder).chmod(0)
    bounds = "-dac_override,-dac_read_search"
    ran = shell(recorded, f"{setpriv} --inh-caps {bounds} --bounding-set {bounds} {GUARD} {verb}")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert folder in ran.stderr
    assert "Permission denied" in ran.stderr
    assert "guard itself failed" not in ran.stderr


def test_a_torch_that_is_too_old_is_told_with_the_way_out(recorded: Project) -> None:
    metadata = "Metadata-Version: 2.1\nName: torch\nVersion: 2.1.0\n"
    recorded.write("site/torch-2.1.0.dist-info/METADATA", metadata)
    ran = shell(recorded, f'PYTHONPATH="site:$PYTHONPATH" {GUARD} check')
    assert ran.returncode == 2
    assert 'import: "it::one" - torch 2.1.0 is too old: wanted 2.9 or newer' in ran.stdout
    assert 'try: pip install "graph-guard[torch]"' in ran.stdout

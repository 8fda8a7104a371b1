"""A process that dies leaves where it was."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from guard.commands.stacks import innermost, timed_out, user_line
from guard.session.watch import Crumb, Watch, read_crumb, read_stacks

if TYPE_CHECKING:
    from pathlib import Path

DIES = """
import os, sys
from pathlib import Path
from guard.session.watch import Watch

def user_code():
    {end}

watch = Watch(Path(sys.argv[1]), "gw0")
watch.begin("checks/test_a.py::test_b", "setting up", {limit})
with watch.phase("tracing"):
    user_code()
"""


def run(folder: Path, end: str, limit: float = 0.0) -> int:
    script = folder / "dies.py"
    script.write_text(DIES.format(end=end, limit=limit))
    return subprocess.run(
        [sys.executable, script, folder], check=False, env={"PYTHONPATH": ":".join(sys.path)}
    ).returncode


def test_a_signal_leaves_the_phase_and_the_user_s_line(tmp_path: Path) -> None:
    assert run(tmp_path, "os.abort()") == -6
    crumb = read_crumb(tmp_path, "gw0")
    assert crumb is not None
    assert (crumb.nodeid, crumb.phase) == ("checks/test_a.py::test_b", "tracing")
    stacks = read_stacks(tmp_path, "gw0")
    assert user_line(stacks, tmp_path) == "dies.py:7"
    assert innermost(stacks, tmp_path)[0] == "dies.py:7 in user_code"
    assert not timed_out(stacks)


def test_a_c_call_that_never_returns_is_ended(tmp_path: Path) -> None:
    assert run(tmp_path, "sum(iter(int, 1))", limit=0.2) == 1
    stacks = read_stacks(tmp_path, "gw0")
    assert timed_out(stacks)
    assert user_line(stacks, tmp_path) == "dies.py:7"


def test_a_shorter_crumb_overwrites_a_longer_one(tmp_path: Path) -> None:
    watch = Watch(tmp_path, "gw1")
    try:
        watch.begin("a" * 500, "importing", 0)
        watch.end()
    finally:
        watch.close()
        faulthandler.enable(file=2)  # pytest's, which the watch had taken
    crumb = read_crumb(tmp_path, "gw1")
    assert crumb is not None
    assert crumb.phase == "waiting"


def test_a_phase_ends_where_an_error_leaves_it() -> None:
    watch = Watch()
    watch.begin("a::b", "running", 0)
    with watch.phase("tracing"):
        pass
    assert watch.doing == "running"
    with pytest.raises(ZeroDivisionError), watch.phase("tracing"):
        _ = 1 / 0
    assert watch.doing == "tracing"


def test_no_file_and_a_torn_file_are_no_crumb(tmp_path: Path) -> None:
    assert read_crumb(tmp_path, "gw0") is None
    (tmp_path / "gw0.crumb").write_text('["a", "b"')
    assert read_crumb(tmp_path, "gw0") is None
    assert read_stacks(tmp_path, "gw0") == ""
    assert Crumb("a", "b", 0.0).limit == 0.0

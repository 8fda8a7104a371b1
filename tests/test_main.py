from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path

import pytest

from guard import __main__ as entry
from guard import cli
from guard.errors import GuardError, UsageError

ROOT = Path(__file__).resolve().parents[1]


def ends_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "run", run)


@pytest.mark.parametrize("error", [UsageError("no such thing", "try that"), GuardError("no such thing", "try that")])
def test_a_user_s_error_is_a_sentence(
    error: GuardError, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, error)
    assert entry.main(["x"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "error: no such thing\n  try that\n")


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ends_with(monkeypatch, KeyboardInterrupt())
    assert entry.main(["x"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_bug_is_a_log_and_two_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\n")
    monkeypatch.chdir(tmp_path)
    ends_with(monkeypatch, ZeroDivisionError("planted\nsecond line \udcff"))
    assert entry.main(["check", "a::b"]) == 3
    (log,) = (tmp_path / ".guard").glob("bug-report-*.log")
    assert capsys.readouterr().err == (
        f"error: guard itself failed: ZeroDivisionError: planted\n  please report it with {log}\n"
    )
    text = log.read_text()
    assert "command: ['check', 'a::b']" in text
    assert re.search(r"^torch: \S+$", text, re.MULTILINE)
    assert "Traceback (most recent call last)" in text
    assert (tmp_path / ".guard" / ".gitignore").exists()


def test_a_bug_outside_a_project_leaves_its_log_in_the_temporary_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ends_with(monkeypatch, ZeroDivisionError())
    assert entry.main([]) == 3
    (log,) = tmp_path.glob("bug-report-*.log")
    assert str(log) in capsys.readouterr().err


def test_a_log_that_cannot_be_written_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("guard.commands.bug_report.write_whole", full)
    ends_with(monkeypatch, ZeroDivisionError())
    assert entry.main([]) == 3
    assert "the log could not be written" in capsys.readouterr().err


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "guard", "--version"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("graph-guard ")


def test_a_reader_that_leaves_gets_no_traceback() -> None:
    script = "import sys; from guard.__main__ import main; sys.exit(main(['--help']))"
    process = subprocess.Popen(
        [sys.executable, "-c", f"import time; time.sleep(0.3)\n{script}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 141


def test_a_terminal_without_unicode_gets_escapes(tmp_path: Path) -> None:
    code = "import sys; from guard.__main__ import main; sys.exit(main(['show', '\\u00e9']))"
    (tmp_path / "checks").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, 'error: unknown check "\\xe9"')

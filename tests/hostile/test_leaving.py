"""Code of the project that ends the process while pytest imports it: told, never a pass, never a hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.project import Project

HOLDS = """
def test_one(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)
"""
ENDS = {
    "sys.exit": ("import sys\nsys.exit(0)", "SystemExit: 0"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
}


@pytest.fixture
def recorded(project: Project) -> Project:
    project.checks(HOLDS)
    assert project.guard("update").returncode == 0
    return project


@pytest.mark.parametrize("end", ENDS)
def test_a_module_that_ends_the_process_is_an_import_error(recorded: Project, end: str) -> None:
    code, said = ENDS[end]
    recorded.checks(code, "test_leaves")
    ran = recorded.guard("check", timeout=50)
    assert ran.returncode == 2
    assert f'import: "checks/test_leaves.py" - the import ends the process: {said}' in ran.stdout
    assert f"at checks/test_leaves.py:{1 + code.count(chr(10))}" in ran.stdout
    assert "1 holds" in ran.stdout


@pytest.mark.parametrize(
    ("code", "said"),
    [
        pytest.param("import sys\nsys.exit(0)", "SystemExit: 0", id="sys.exit"),
        pytest.param("import os\nos._exit(0)", "SystemExit: os._exit(0)", id="os._exit"),
    ],
)
def test_a_conftest_that_ends_the_process_does_not_make_the_run_pass(recorded: Project, code: str, said: str) -> None:
    recorded.write("checks/conftest.py", code)
    ran = recorded.guard("check")
    assert (ran.returncode, ran.stderr) == (2, "")
    assert f'import: "checks" - a conftest or plugin ends the process: {said}' in ran.stdout


def test_a_child_of_a_conftest_may_leave(recorded: Project) -> None:
    path = recorded.root / "checks" / "conftest.py"
    fork = "import os\nif not (child := os.fork()):\n    os._exit(0)\nassert os.waitpid(child, 0)[1] == 0\n"
    path.write_text(path.read_text("utf-8") + fork, "utf-8")
    ran = recorded.guard("check")
    assert (ran.returncode, ran.stdout.startswith("1 holds")) == (0, True)


def test_what_a_conftest_prints_reaches_nobody(recorded: Project) -> None:
    path = recorded.root / "checks" / "conftest.py"
    path.write_text(path.read_text("utf-8") + 'print("noise")\nsys.stderr.write("noise")\n', "utf-8")
    ran = recorded.guard("check", "--format", "json")
    assert ran.stdout.startswith('{\n  "schema"')
    assert "noise" not in ran.stdout + ran.stderr


def test_a_module_that_skips_itself_leaves_no_orphans(recorded: Project) -> None:
    recorded.checks('import pytest\npytest.skip("no gpu here", allow_module_level=True)\n')
    recorded.checks(HOLDS, "test_other")
    ran = recorded.guard("update", "-v")
    assert ran.returncode == 0
    assert 'skipped: "it" - no gpu here' in ran.stdout
    assert "orphan" not in ran.stdout
    assert "1 holds, 1 skipped" in ran.stdout


def test_collecting_only_is_refused(recorded: Project) -> None:
    recorded.environment["PYTEST_ADDOPTS"] = "--collect-only"
    ran = recorded.guard("check")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert 'guard check runs what it collects: take "--collect-only" out' in ran.stderr


def test_two_modules_of_one_name_are_told_with_the_way_out(recorded: Project) -> None:
    recorded.write("checks/sub/test_it.py", HOLDS)
    ran = recorded.guard("check")
    assert ran.returncode == 2
    assert "- import file mismatch:" in ran.stdout
    assert 'try: set addopts = "--import-mode=importlib"' in ran.stdout


def test_a_syntax_error_is_told_with_the_project_s_line(recorded: Project) -> None:
    recorded.checks("\ndef (:\n", "test_wrong")
    ran = recorded.guard("check")
    assert ran.returncode == 2
    assert 'import: "checks/test_wrong.py" - SyntaxError: invalid syntax' in ran.stdout
    assert "  at checks/test_wrong.py:1\n" in ran.stdout
    assert "ast.py" not in ran.stdout


def test_without_torch_the_way_out_is_told(recorded: Project) -> None:
    path = recorded.root / "checks" / "conftest.py"
    path.write_text(path.read_text("utf-8") + 'sys.modules["torch"] = None\n', "utf-8")
    recorded.write("checks/test_needs.py", "raise ModuleNotFoundError(\"No module named 'torch'\")\n")
    ran = recorded.guard("check")
    assert ran.returncode == 2
    assert 'try: pip install "graph-guard[torch]"' in ran.stdout

"""Under bare pytest the plugin fails tests that use the fixture, and changes nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.project import Project

FIXTURE = """
import warnings
import pytest

def test_missing_is_told_after_the_assertions(guard):
    capture = guard.check(lambda: ["aten.sin.default", "aten.add.Tensor"], tracer=None)
    assert capture.graph("main").count("aten.sin.default") == 1
    assert capture.graph("main").count("aten.add") == 1
    with pytest.raises(KeyError, match='no graph "joint"; captured main'):
        capture.graph("joint")

def test_second_call_needs_a_name(guard):
    guard.check(lambda: ["aten.sin.default"], tracer=None, name="first")
    guard.check(lambda: ["aten.sin.default"], tracer=None)
    guard.check(lambda: ["aten.sin.default"], tracer=None)

def test_same_name_twice(guard):
    guard.check(lambda: ["aten.sin.default"], tracer=None, name="one")
    guard.check(lambda: ["aten.sin.default"], tracer=None, name="one")

def test_same_file_of_names(guard):
    guard.check(lambda: ["aten.sin.default"], tracer=None, name="Up")
    guard.check(lambda: ["aten.sin.default"], tracer=None, name="up")

def test_empty(guard): pass

@pytest.mark.parametrize("config", [object()])
def test_automatic(guard, config): guard.check(lambda: ["a.b.c"], tracer=None)

@pytest.mark.parametrize("thing", [object()], ids=["thing0"])
def test_explicit(guard, thing): guard.check(lambda: ["a.b.c"], tracer=None)

@pytest.mark.parametrize("natural", [1, "two", None, True, int, len])
def test_natural(guard, natural): guard.check(lambda: ["a.b.c"], tracer=None)

@pytest.mark.parametrize("function", [lambda: 1, lambda: 2])
def test_lambdas(guard, function): guard.check(lambda: ["a.b.c"], tracer=None)

@pytest.mark.parametrize("config", [pytest.param(object(), id="config0")])
def test_explicit_param(guard, config): guard.check(lambda: ["a.b.c"], tracer=None)

def test_same_file(guard): guard.check(lambda: ["a.b.c"], tracer=None)
def test_Same_File(guard): guard.check(lambda: ["a.b.c"], tracer=None)

def test_own_failure(guard):
    wanted = 2
    assert wanted == 3

def test_defect_of_guard(guard): guard.check(lambda: ["breaks"], tracer=None)

def test_without_the_fixture(guard_device): assert guard_device == "cpu"

def test_mesh(guard):
    assert guard.mesh((2, 4)) == ("mesh", (2, 4), None)
    guard.check_graph(["aten.sin.default"])

def test_mesh_was_closed():
    import sys
    assert sys.modules["guard.tracers.mesh"].Meshes.closed == 1
"""


def test_each_misuse_is_told_in_a_few_lines_and_no_traceback(project: Project) -> None:
    project.checks(FIXTURE)
    ran = project.pytest("checks", "-rA")
    told = ran.stdout
    assert "PASSED checks/test_it.py::test_without_the_fixture" in told
    assert "PASSED checks/test_it.py::test_mesh_was_closed" in told
    for line in (
        'missing: "it::missing_is_told_after_the_assertions" - no baseline yet; captured 2 nodes',
        'right? guard accept "it::missing_is_told_after_the_assertions"',
        'missing: "it::second_call_needs_a_name#first"',
        'refused: "it::second_call_needs_a_name" - a second call without a name would share this baseline',
        'refused: "it::same_name_twice#one" - a second call with name="one" would share this baseline',
        'refused: "it::same_file_of_names#up" - a second call with name="up" would share this baseline',
        'empty: "it::empty" - guards nothing: the test never calls guard.check',
        'refused: "it::automatic[config0]" - pytest named the parameter "config" by its position',
        'refused: "it::lambdas[<lambda>0]" - pytest named the parameter "function" by its position',
        'refused: "it::same_file" - shares its baseline\'s file with another check',
        "checks/test_it.py::test_Same_File",
        'internal: "it::defect_of_guard" - guard itself failed: RuntimeError: planted defect',
        "log: .guard/bug-report-",
        "assert 2 == 3",
    ):
        assert line in told, line
    for accepted in ("explicit[thing0]", "natural[1]", "natural[two]", "natural[None]", "natural[int]", "mesh"):
        assert f'missing: "it::{accepted}"' in told, accepted
    assert "natural[len]" in told
    assert 'missing: "it::explicit_param[config0]"' in told
    assert "guard/session/guard.py" not in told.replace("log: ", "")


def test_a_check_that_holds_passes_and_drops_what_it_left_before(project: Project) -> None:
    project.checks('def test_one(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)')
    assert project.pytest("checks").returncode == 1
    assert project.pending() == ["it/one.graph"]
    assert project.guard("accept", "--all").returncode == 0
    project.checks('def test_one(guard): guard.check(lambda: ["aten.cos.default"], tracer=None)')
    assert project.pytest("checks").returncode == 1
    assert project.pending() == ["it/one.graph"]
    project.checks('def test_one(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)')
    assert project.pytest("checks").returncode == 0
    assert project.pending() == []


def test_another_project_is_left_alone(project: Project) -> None:
    project.write("pyproject.toml", "")
    project.write("other/test_own.py", "def test_own(): pass\ndef test_fails(): assert 1 == 2")
    with_plugin = project.pytest("other", "-q")
    without = project.pytest("other", "-q", "-p", "no:guard", "-p", "no:guard.pytest_plugin")
    assert [line.split(" in ")[0] for line in with_plugin.stdout.splitlines()] == [
        line.split(" in ")[0] for line in without.stdout.splitlines()
    ]
    assert (with_plugin.returncode, without.returncode) == (1, 1)
    assert not (project.root / ".guard").exists()


def test_a_check_outside_of_the_root_is_refused(project: Project) -> None:
    project.write("elsewhere/test_out.py", "def test_out(guard): guard.check(len, tracer=None)")
    told = project.pytest("elsewhere").stdout
    assert 'is outside of the checks\' root "checks"' in told


def test_loading_the_plugin_imports_no_torch_and_little_of_guard(project: Project) -> None:
    project.write(
        "other/test_own.py",
        """
        import sys

        def test_own():
            loaded = {name for name in sys.modules if name.split(".")[0] in {"guard", "torch", "rich", "filelock"}}
            assert loaded <= {"guard", "guard.specs", "guard.pytest_plugin"}
        """,
    )
    ran = project.pytest("other")
    assert ran.returncode == 0, ran.stdout

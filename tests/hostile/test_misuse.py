"""Checks that ask for what cannot be: refused with what was wanted, and never recorded as a capture that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.project import Project

CALLS = {
    "program": ("guard.check(5, tracer=None)", "guard.check: wanted a callable or a module, got int"),
    "kwargs": ("guard.check(lambda: ['a.b.c'], tracer=None, kwargs=5)", 'wanted kwargs={"name": value}, got int'),
    "mode": ('guard.check(lambda: ["a.b.c"], tracer=MakeFx(tracing_mode="faek"))', "wanted tracing_mode"),
    "name": ("guard.check(lambda: ['a.b.c'], tracer=None, name=5)", "wanted a printable line without spaces around"),
}


def test_what_cannot_be_is_refused(project: Project) -> None:
    tests = "".join(f"def test_{name}(guard): {call}\n" for name, (call, _) in CALLS.items())
    project.checks(f"from guard import MakeFx\n{tests}")
    ran = project.guard("update")
    assert ran.returncode == 1
    assert f"{len(CALLS)} refused" in ran.stdout
    for name, (_, said) in CALLS.items():
        line = next(line for line in ran.stdout.splitlines() if line.startswith(f'refused: "it::{name}" - '))
        assert said in line
    assert not list((project.root / "baselines").glob("**/*.graph"))

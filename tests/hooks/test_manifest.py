"""The hooks as both tools read them."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.act.workflow import find_tool
from tests.project import ROOT

MANIFEST = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
OWN = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
WRITTEN = (ROOT / "guard/commands/templates/hooks.yaml.txt").read_text(encoding="utf-8")
IDS = ["guard-verify", "guard-check"]


@pytest.mark.parametrize("tool", ["pre-commit", "prek"])
@pytest.mark.parametrize(
    ("verb", "name"), [("validate-manifest", ".pre-commit-hooks.yaml"), ("validate-config", ".pre-commit-config.yaml")]
)
def test_both_tools_take_the_files(tool: str, verb: str, name: str) -> None:
    ran = subprocess.run([find_tool(tool), verb, name], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("text", [MANIFEST, OWN, WRITTEN], ids=["shipped", "own", "written-by-init"])
def test_hooks_run_once_on_every_commit(text: str) -> None:
    """A deleted check leaves no file to pass; two runs at once would trace everything twice."""
    hooks = re.split(r"^ *- (?=id:)", text, flags=re.MULTILINE)[1:]
    assert [hook.splitlines()[0].removeprefix("id: ") for hook in hooks] == IDS
    for hook in hooks:
        assert {"pass_filenames: false", "always_run: true", "require_serial: true"} <= {
            line.strip() for line in hook.splitlines()
        }

"""The workflows and the action pass actionlint and zizmor's pedantic persona, and both tools find what they are for."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.act.workflow import find_tool
from tests.project import ROOT

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())
PATHS = (ROOT / "action.yml", *WORKFLOWS)
GUARD = ".github/workflows/guard.yml"
PERSIST = "          persist-credentials: false\n"


def actionlint(root: Path) -> subprocess.CompletedProcess[str]:
    return _run(root, "actionlint", "-no-color", "-shellcheck=", *_workflows(root))


def zizmor(root: Path) -> subprocess.CompletedProcess[str]:
    return _run(root, "zizmor", "--pedantic", "--offline", "--no-progress", "--strict-collection", "--color=never", ".")


def _run(root: Path, tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [find_tool(tool), *arguments], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )


def _workflows(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in (root / ".github/workflows").iterdir())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with the workflows and the action, and nothing else."""
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    shutil.copy(ROOT / "action.yml", tmp_path)
    (tmp_path / ".git").mkdir()  # both look for a repository's root
    return tmp_path


def edit(tree: Path, name: str, old: str, new: str) -> None:
    path = tree / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_actionlint_finds_nothing(tree: Path) -> None:
    done = actionlint(tree)

    assert (done.stdout + done.stderr, done.returncode) == ("", 0)


def test_zizmor_finds_nothing(tree: Path) -> None:
    done = zizmor(tree)

    assert done.returncode == 0, done.stdout + done.stderr


PLANTS = {
    "unpinned-uses": (GUARD, "@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2", "@v6"),
    "artipacked": (GUARD, PERSIST, ""),
    "template-injection": ("action.yml", '"${PATHS}"', '"${{ inputs.paths }}"'),
    "excessive-permissions": (GUARD, "permissions: {}", "permissions: write-all"),
    "dangerous-triggers": (GUARD, "  pull_request:\n", "  pull_request_target:\n"),
    "concurrency-limits": (
        ".github/workflows/guard-nightly.yml",
        "concurrency:\n  group: guard-nightly\n  cancel-in-progress: true\n",
        "",
    ),
}


@pytest.mark.parametrize("audit", PLANTS)
def test_zizmor_finds_what_it_is_for(tree: Path, audit: str) -> None:
    edit(tree, *PLANTS[audit])

    done = zizmor(tree)

    assert done.returncode in range(11, 15)  # by the worst severity
    assert f"[{audit}]" in done.stdout + done.stderr


def test_actionlint_finds_a_step_that_is_not_there(tree: Path) -> None:
    edit(tree, GUARD, "steps.check.outputs.report }}", "steps.chek.outputs.report }}")

    done = actionlint(tree)

    assert done.returncode == 1
    assert '"chek" is not defined' in done.stdout


@pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
def test_what_is_ignored_has_a_reason(path: Path) -> None:
    ignored = re.findall(r"zizmor: ignore\[[\w-]+\](.*)", path.read_text(encoding="utf-8"))

    assert all(len(reason.split()) > 3 for reason in ignored)


@pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
def test_nothing_asks_for_a_secret_a_cache_or_more_than_to_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert "secrets." not in text
    assert "github.token" not in text
    assert "actions/cache" not in text
    assert not re.search(r"^ +cache: *\S", text, re.MULTILINE)
    assert not re.search(r": (write|write-all)\b", text)

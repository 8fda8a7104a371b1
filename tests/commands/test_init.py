"""guard init in repositories that others made."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from guard.__main__ import main
from guard.commands.place import find_place
from guard.commands.scaffold import template
from guard.config import load
from guard.errors import GuardError
from tests.act.workflow import find_tool
from tests.project import ROOT
from tests.repository import repository

if TYPE_CHECKING:
    from collections.abc import Mapping

WROTE = (
    *("pyproject.toml", "checks/test_example.py", ".gitattributes", ".gitignore"),
    *(".pre-commit-config.yaml", ".github/workflows/guard.yml"),
)
PYPROJECT = '[build-system]\nrequires = ["setuptools"]\n\n[tool.ruff]  # kept\nline-length = 99'


@pytest.fixture(autouse=True)
def _away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no repository around the temporary folder be found."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "project", *, git: bool = True) -> Path:
    root = tmp_path / name
    root.mkdir(parents=True)
    if git:
        repository(root)
    monkeypatch.chdir(root)
    return root


def files(root: Path) -> Mapping[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def init(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["init", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def yaml(path: Path) -> Any:
    """Read the file as the tools do that it is for."""
    python = find_tool("pre-commit").removesuffix("pre-commit") + "python"
    code = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1], encoding='utf-8'))))"
    return json.loads(subprocess.run([python, "-c", code, path], capture_output=True, check=True).stdout)


def test_an_empty_repository_gets_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = there(tmp_path, monkeypatch)
    out = init(capsys)
    assert sorted(files(root)) == sorted(WROTE)
    assert out.startswith("".join(f"wrote {name}\n" for name in WROTE))
    lines = out.splitlines()
    assert lines[-4:-2] == ["next:", "  guard update"]
    assert lines[-2].endswith(" install")
    assert lines[-1] == f'  git add -- {" ".join(WROTE)} baselines && git commit -m "Guard the traced graphs"'
    assert "@@" not in "".join(data.decode() for data in files(root).values())
    found = load(root)
    assert (found.root, found.checks_prefix) == (root, "checks")


def test_it_is_idempotent_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = there(tmp_path, monkeypatch)
    init(capsys)
    before = files(root)
    assert all(line.startswith("kept ") and "lacks" not in line for line in init(capsys).splitlines()[:-4])
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    assert "kept ../pyproject.toml\n" in init(capsys)
    assert files(root) == before


def test_what_exists_is_kept_and_what_it_lacks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = there(tmp_path, monkeypatch)
    mine = {
        "pyproject.toml": PYPROJECT.replace("\n", "\r\n").encode(),
        ".gitattributes": b"*.png binary\n",
        ".gitignore": b"build\n.guard\n",
        ".pre-commit-config.yaml": b"repos: []\n",
        ".github/workflows/guard.yml": b"name: mine\n",
        "checks/test_mine.py": b"",
    }
    for name, data in mine.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    out = init(capsys)
    after = files(root)
    assert {name: after[name] for name in mine if name != "pyproject.toml"} == {
        name: data for name, data in mine.items() if name != "pyproject.toml"
    }
    assert after["pyproject.toml"].startswith(mine["pyproject.toml"])
    assert after["pyproject.toml"].count(b"\n") == after["pyproject.toml"].count(b"\r\n")
    assert after.keys() == mine.keys()
    assert "kept .gitattributes, which lacks:\n    /baselines/** text eol=lf\n" in out
    assert "kept .gitignore\n" in out
    assert "kept .pre-commit-config.yaml, which lacks:\n      - repo: local\n" in out
    assert "kept .github/workflows/guard.yml\n" in out


@pytest.mark.parametrize("name", ["packages/model", "with space's/\u00fc $x", "-dash"])
def test_a_monorepo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    top = there(tmp_path, monkeypatch)
    (top / name).mkdir(parents=True)
    monkeypatch.chdir(top / name)
    init(capsys)
    assert {f"{name}/{file}" for file in WROTE[:4]} < files(top).keys()
    (workflow,) = (top / ".github/workflows").iterdir()
    assert yaml(workflow)["defaults"]["run"]["working-directory"] == name
    lint(top)
    entries = [hook["entry"] for hook in yaml(top / ".pre-commit-config.yaml")["repos"][0]["hooks"]]
    shown = subprocess.run(
        ["bash", "-c", entries[1].replace("guard check", "pwd")],  # noqa: S607 - whichever bash
        cwd=top,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(shown.stdout.removesuffix("\n")) == top / name
    # a second project of the repository has a workflow of its own, and is told about the hooks
    (top / "other").mkdir()
    monkeypatch.chdir(top / "other")
    out = init(capsys)
    assert "kept ../.pre-commit-config.yaml, which lacks:\n" in out
    assert "wrote ../.github/workflows/guard-other.yml\n" in out


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    root = there(tmp_path, monkeypatch, git=False)
    out = init(capsys)
    assert sorted(files(root)) == sorted(WROTE)
    assert out.splitlines()[-2].startswith("  git init && ")


def test_configured_folders_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = there(tmp_path, monkeypatch)
    (root / "pyproject.toml").write_text('[tool.guard]\nchecks = "traced"\nbaselines = "kept here/é"\n')
    out = init(capsys)
    assert "wrote traced/test_example.py\n" in out
    assert out.splitlines()[-1].count("'kept here/é'") == 1
    graph = root / "kept here/é/a.graph"
    graph.parent.mkdir(parents=True)
    graph.write_text("")
    attributes = repository(root).git("check-attr", "eol", "--", "kept here/é/a.graph")
    assert attributes.endswith("eol: lf\n")


def lint(root: Path) -> None:
    """Demand what the project's own workflows keep to."""
    workflows = [str(path) for path in sorted((root / ".github/workflows").iterdir())]
    for command in (
        ["actionlint", "-no-color", "-shellcheck=", *workflows],
        ["zizmor", "--pedantic", "--offline", "--no-progress", "--strict-collection", "--color=never", "."],
    ):
        ran = subprocess.run(
            [find_tool(command[0]), *command[1:]], cwd=root, capture_output=True, text=True, timeout=60, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("flags", [(), ("--gpu-runner", "my-gpu")], ids=["cpu", "gpu"])
def test_the_workflow_passes_the_linters_and_pins_what_ours_pin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...]
) -> None:
    root = there(tmp_path, monkeypatch)
    (root / "pyproject.toml").write_text(PYPROJECT)
    init(capsys, *flags)
    lint(root)
    path = root / ".github/workflows/guard.yml"
    text = path.read_text()
    own = (ROOT / ".github/workflows/guard.yml").read_text()
    uses = {line.strip().removeprefix("- ") for line in text.splitlines() if "uses:" in line}
    assert uses
    assert all(line in own for line in uses)
    assert text.count("persist-credentials: false") == text.count("actions/checkout@")
    assert ("cuda" in text) == bool(flags)
    assert "--editable . 'graph-guard[torch]" in text
    jobs = yaml(path)["jobs"]
    assert jobs["guard"]["needs"] == (["cpu", "gpu"] if flags else ["cpu"])
    for job in jobs.values():  # each script is one that bash reads
        for step in job["steps"]:
            if "run" in step:
                subprocess.run(["bash", "-n", "-c", step["run"]], check=True)  # noqa: S607 - whichever bash


@pytest.mark.parametrize("label", ["", "a'b", "${{ x }}", "two words", "-x"])
def test_a_label_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], label: str
) -> None:
    root = there(tmp_path, monkeypatch)
    assert main(["init", f"--gpu-runner={label}"]) == 2
    assert "wanted the label of a runner" in capsys.readouterr().err
    assert not files(root)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pyproject.toml", "[tool\n", "is no TOML"),
        ("pyproject.toml", "tool = {x = 1}\n", "takes no [tool.guard] at its end"),
        ("checks", "", '"checks" is no folder'),
        (".gitignore/x", "", "cannot be read: Is a directory"),
    ],
)
def test_nothing_is_written_where_something_is_in_the_way(  # noqa: PLR0913, PLR0917 - a row of the table
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, text: str, said: str
) -> None:
    root = there(tmp_path, monkeypatch)
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text or "x = 'guard'\n")
    if name == "pyproject.toml":
        (root / name).write_text(text + "# guard\n")
    before = files(root)
    assert main(["init"]) == 2
    assert said in capsys.readouterr().err
    assert files(root) == before


def test_a_disk_that_refuses_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last file cannot be written, whoever runs the test: its folder's name is a file's."""
    root = there(tmp_path, monkeypatch)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "pyproject.toml").chmod(0o640)
    (root / ".github").write_text("")
    before = files(root)
    assert main(["init"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert files(root) == before
    assert not (root / "checks").exists()
    assert stat.S_IMODE((root / "pyproject.toml").stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = there(tmp_path, monkeypatch, git=False)
    root.chmod(0o555)
    assert main(["init"]) == 2
    root.chmod(0o755)
    assert not files(root)


def test_the_files_are_in_the_wheel() -> None:
    data = next(line for line in (ROOT / "pyproject.toml").read_text().splitlines() if "py.typed" in line)
    held = {path.name for pattern in re.findall(r'"([^"]+)"', data) for path in (ROOT / "guard").glob(pattern)}
    for path in (ROOT / "guard/commands/templates").iterdir():
        assert path.name in held
        assert template(path.name.removesuffix(".txt"))


@pytest.mark.prove
def test_the_first_check_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It traces with the torch that is here, and holds afterwards."""
    root = there(tmp_path, monkeypatch)
    init(capsys)
    env = {name: value for name, value in os.environ.items() if name != "CI"} | {"PYTHONPATH": str(ROOT)}
    for verb, said in (("update", "accepted: "), ("check", "2 hold")):
        ran = subprocess.run(
            [sys.executable, "-m", "guard", verb], cwd=root, env=env, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert said in ran.stdout
    repository(root).git("add", "checks")
    assert main(["verify"]) == 1  # the baselines are not
    repository(root).commit()
    assert main(["verify"]) == 0
    capsys.readouterr()


def test_a_working_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = there(tmp_path, monkeypatch, git=False)
    root.rmdir()
    with pytest.raises(GuardError, match="the working directory is gone"):
        find_place()

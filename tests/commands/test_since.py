"""guard diff --since: what a branch did to the baselines, in a real repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from guard import environment
from guard.__main__ import main
from guard.baselines import costs, reasons
from guard.baselines.disk import write_whole
from guard.baselines.names import cost_path, relative_path
from guard.baselines.section import Section
from tests.commands.test_diff import graph


def git(*arguments: str, cwd: Path | None = None) -> str:
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull}
    command = [shutil.which("git") or "git", *arguments]
    return subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def record(check: str, op: str = "neg") -> None:
    write_whole(Path("baselines", relative_path(check)), graph(check, op).encode())


def commit(subject: str) -> None:
    git("add", ".")
    git("commit", "-qm", subject)


def torch(version: str) -> None:
    now = environment.Environment(version, "3.11", "linux-x86_64", "cpu")
    Path("baselines", environment.FILE).write_text(environment.dump(now))


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose branch left main after one commit."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    Path("checks").mkdir()
    Path("checks", "test_a.py").write_text("")
    for check in ("a::b[1]", "a::b[2]", "a::gone", "a::kept", "a::moves", "a::named"):
        record(check)
    torch("2.13.0+cpu")
    write_whole(Path("baselines", reasons.FILE), reasons.dump({"a::kept": "old"}))
    commit("first")
    git("checkout", "-qb", "branch")
    return tmp_path


def cost(check: str, **sections: Section) -> None:
    write_whole(Path("baselines", cost_path(check)), costs.dump(check, sections))


def test_trace_costs_are_listed_with_the_graphs(branch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    was, now = Section(1000, 0.01), Section(1100, 0.01, (("a.py:f", 90),))
    for check in ("a::b[1]", "a::b[2]", "a::kept", "a::named"):
        cost(check, here=was)
    commit("costs")
    git("branch", "-f", "main")
    record("a::b[1]", "abs")
    for check in ("a::b[1]", "a::b[2]"):
        cost(check, here=now, there=was)  # a first one under another environment is no news
    cost("a::kept", here=was, there=was)
    Path("baselines", cost_path("a::named")).write_text("<<<<<<< HEAD")
    assert main(["diff", "--since", "main", "--format", "json"]) == 2
    rows = {row["check"]: row for row in json.loads(capsys.readouterr().out)["baselines"]}
    title = "trace cost +10.0 %: 1,100 calls, was 1,000 (tolerance 1 %)"
    assert [change["kind"] for change in rows["a::b[1]"]["changes"]] == ["drift", "trace-cost"]
    assert [change["title"] for change in rows["a::b[2]"]["changes"]] == [title]
    assert rows["a::b[2]"]["changes"][0]["lines"] == ["+85 or more a.py:f  at most 5 -> 90"]
    assert (rows["a::named"]["status"], sorted(rows)) == ("unreadable", ["a::b[1]", "a::b[2]", "a::named"])
    assert branch.is_dir()


def rerecord() -> None:
    for check in ("a::b[1]", "a::b[2]"):
        record(check, "sin")
    two = graph("a::new").replace("  return %0", "  %1: f32[4] = aten.neg.default(%0)\n  return %1")
    Path("baselines/a/new.graph").write_text(two)
    Path("baselines/a/named.graph").write_text(graph("a::named").replace("%0", "%n"))
    Path("baselines/a/gone.graph").unlink()
    git("mv", "baselines/a/moves.graph", "baselines/a/moved.graph")
    Path("baselines/a/moved.graph").write_text(graph("a::moved"))
    torch("2.14.1+cpu")
    write_whole(Path("baselines", reasons.FILE), reasons.dump({"a::kept": "old", "a::b[1]": "x", "a::b[2]": "x"}))


def listed(*arguments: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    assert main(["diff", "--since", "main", *arguments]) == code
    return capsys.readouterr().out


def test_a_branch_that_touched_none(branch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = git("rev-parse", "HEAD")[:10]
    assert listed(capsys=capsys) == f'no baseline re-recorded since "main" (merge base {base})\n'
    assert branch.is_dir()


@pytest.mark.parametrize("committed", [True, False])
def test_everything_that_a_branch_may_do(branch: Path, capsys: pytest.CaptureFixture[str], *, committed: bool) -> None:
    base = git("rev-parse", "HEAD").strip()
    rerecord()
    if committed:
        commit("second")
        git("checkout", "-q", "main")
        record("a::kept", "cos")  # main goes on: not this branch's
        commit("main")
        git("checkout", "-q", "branch")
    text = listed(capsys=capsys)
    title = text.splitlines()[0].partition(" - ")[2]
    assert title.startswith("structure, ")
    assert text.splitlines() == [
        f'changed: "a::b[1]" and 1 more - {title}',
        "  reason: x",
        "  the same in",
        '    "a::b[2]"',
        'added: "a::moved" - 1 node, as "a::moves" had, which is removed',
        'added: "a::new" - 2 nodes',
        'removed: "a::gone" - 1 node',
        'removed: "a::moves" - 1 node',
        'same: "a::named" - the same graphs, but for names and legal order',
        "environment: torch 2.13.0+cpu -> 2.14.1+cpu",
        f'2 changed, 2 added, 2 removed, 1 same since "main" (merge base {base[:10]}): 2 structure',
    ]
    assert "aten.sin" in listed("-v", capsys=capsys)
    one = listed("a::b[2]", capsys=capsys)
    assert one.startswith(f'changed: "a::b[2]" - {title}\n')
    assert "aten.sin" in one
    assert main(["diff", "--since", "main", "a::kept"]) == 2
    assert 'not re-recorded since "main": "a::kept"' in capsys.readouterr().err
    assert branch.is_dir()


def test_the_record(branch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rerecord()
    found: dict[str, Any] = json.loads(listed("--format", "json", capsys=capsys))
    assert found["counts"] == {"changed": 2, "added": 2, "removed": 2, "same": 1}
    assert found["classes"] == {"structure": 2}
    assert found["environment"] == ["torch 2.13.0+cpu -> 2.14.1+cpu"]
    rows = {row["check"]: row for row in found["baselines"]}
    assert (rows["a::b[1]"]["reason"], rows["a::b[1]"]["changes"][0]["drift"]) == ("x", "structure")
    assert (rows["a::moved"]["was"], rows["a::moved"]["status"]) == ("a::moves", "added")
    assert branch.is_dir()


def test_a_reason_of_before_is_not_this_branch_s(branch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record("a::kept", "sin")
    write_whole(Path("baselines", reasons.FILE), reasons.dump({"a::kept": "old", "a::moves": "new"}))
    assert "reason" not in listed(capsys=capsys)
    assert branch.is_dir()


def test_markdown_for_a_comment(branch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "a::b[``` | <img> @all]"
    record(hostile)
    commit("one more")
    git("branch", "-f", "main")
    record(hostile, "sin")
    text = listed("--format", "markdown", capsys=capsys)
    assert text.startswith("### Baselines since `main`\n\n1 changed since ")
    assert "| changed | ````a::b[``` \\| <img> @all]```` | `structure, " in text
    assert "<details><summary><code>a::b[``` | &lt;img&gt; @all]</code>: <code>structure" in text
    assert "\n```diff\n# structure, " in text
    assert "\n+ %0: f32[4] = aten.sin.default(%a)\n" in text
    assert text.endswith("\n```\n</details>\n")
    assert branch.is_dir()


def test_a_file_that_does_not_parse_is_listed_and_2(branch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rerecord()
    Path("baselines/a/kept.graph").write_text("<<<<<<< HEAD\n")
    text = listed(capsys=capsys, code=2)
    assert text.startswith('unreadable: "a::kept" - baselines/a/kept.graph:1:1: ')
    assert "1 unreadable, 2 changed" in text
    assert branch.is_dir()


def test_a_project_below_the_repository_s_root(
    branch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git("checkout", "-q", "main")
    Path("sub").mkdir()
    for name in ("checks", "baselines"):
        git("mv", name, f"sub/{name}")
    commit("below")
    git("checkout", "-qb", "below")
    monkeypatch.chdir(branch / "sub")
    rerecord()
    assert "2 changed, 2 added, 2 removed, 1 same" in listed(capsys=capsys)


def test_what_git_cannot_tell(branch: Path, capsys: pytest.CaptureFixture[str], tmp_path_factory: Any) -> None:
    assert main(["diff", "--since", "nowhere"]) == 2
    assert 'error: "nowhere" names no commit here' in capsys.readouterr().err
    assert main(["diff", "--since", "-x"]) == 2
    git("checkout", "-q", "--orphan", "alone")
    commit("alone")
    assert main(["diff", "--since", "main"]) == 2
    assert 'error: "main" and this branch have no commit in common here' in capsys.readouterr().err
    bare = tmp_path_factory.mktemp("bare")
    (bare / "checks").mkdir()
    os.chdir(bare)
    assert main(["diff", "--since", "main"]) == 2
    assert "no git repository" in capsys.readouterr().err
    os.chdir(branch)

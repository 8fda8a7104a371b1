"""guard verify on projects that are written by hand: it runs no check."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from guard import environment
from guard.__main__ import main
from guard.baselines import costs
from guard.baselines.audit.whole import audit
from guard.baselines.disk import write_whole
from guard.baselines.meta import Meta
from guard.baselines.names import cost_path
from guard.baselines.pending import write_pending
from guard.baselines.section import Section
from guard.baselines.store import Store
from guard.config import Config, load
from tests.project import ROOT
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = "guard-graph 1\ncheck {}\ntracer make_fx\n\ngraph main(%a: f32[4]) -> (f32[4]) {{\n  return %a\n}}\n"
CHECKS = """\
import pytest

def test_one(guard): ...

class TestStep:
    @pytest.mark.parametrize("size", [1, 2])
    def test_two(self, guard, size): ...
"""
IDS = ("it::one", "it::TestStep.two[1]", "it::TestStep.two[2]#again")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A project of two checks and three baselines, all of it committed."""
    root = tmp_path / "project"
    (root / "checks").mkdir(parents=True)
    (root / "pyproject.toml").write_text("[tool.guard]\n")
    (root / "checks/test_it.py").write_text(CHECKS)
    monkeypatch.chdir(root)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("GIT_INDEX_FILE", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    found = load(root)
    for check in IDS:
        record(found, check)
    write_whole(found.baselines / environment.FILE, environment.dump(environment.current()).encode())
    repository(root).commit()
    return found


@pytest.fixture
def git(config: Config) -> Repository:
    return Repository(config.root)


def record(config: Config, check: str, text: str | None = None) -> Path:
    path = Store(config).path(check)
    write_whole(path, (text or GRAPH.format(check)).encode())
    return path


def verify(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["verify", *arguments])
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, captured.out


def test_what_is_right_is_counted(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(capsys) == (0, "3 baselines verified, no faults\n")
    assert (config.state / "cache/verified.json").exists()
    assert verify(capsys) == (0, "3 baselines verified, no faults\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("graph main", "<<<<<<< HEAD\ngraph main", 5, "merge conflict marker"),
        ("  return %a", "  return %b", 6, 'value "%b" is used before it is defined'),
        ("%a: f32[4]) ->", "%a:  f32[4]) ->", 5, "not as guard prints it: wanted 'graph main(%a: f32[4]) -> "),
        ("}\n", "}", 7, r"not as guard prints it: wanted '}\n', got '}'"),
        ("make_fx\n\n", "make_fx\n", 4, "not as guard prints it"),
        ("check it::one", "check it::won", 2, 'holds check "it::won", whose file is "baselines/it/won.graph"'),
    ],
)
def test_a_damaged_baseline_is_told_with_its_line(  # noqa: PLR0913, PLR0917 - a row of the table
    config: Config, capsys: pytest.CaptureFixture[str], old: str, new: str, line: int, said: str
) -> None:
    assert verify(capsys)[0] == 0  # what is right is remembered
    text = GRAPH.format("it::one")
    assert old in text
    record(config, "it::one", text.replace(old, new))
    for _ in range(2):  # a fault is never remembered as right
        code, out = verify(capsys)
        assert code == 1
        assert f"baselines/it/one.graph:{line}: {said}" in out


@pytest.mark.parametrize("make", ["mkdir", "mkfifo", "dangling link"])
def test_what_is_no_file_is_no_baseline(
    config: Config, git: Repository, capsys: pytest.CaptureFixture[str], make: str
) -> None:
    path = Store(config).path("it::TestStep.two[1]")  # another parameter's baseline is still there
    path.unlink()
    git.commit()
    assert verify(capsys)[0] == 0
    if make == "mkdir":
        path.mkdir()
    elif make == "mkfifo":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere")
    code, out = verify(capsys)
    assert code == 1
    assert "baselines/it/TestStep.two[1].graph:1: wanted" in out


def test_line_ends_are_git_s_business(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    path = Store(config).path("it::one")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    Repository(config.root).commit()
    assert verify(capsys)[0] == 0


def test_two_texts_that_differ_in_their_check_alone_are_both_judged(
    config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second one's header is read, although its body is known."""
    path = Store(config).path("it::one")
    path.write_bytes(path.read_bytes().replace(b"check it::one", b"check  it::one"))
    assert "baselines/it/one.graph:2" in verify(capsys)[1]


def test_what_lies_beside_is_read_too(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    (config.baselines / environment.FILE).write_text("torch = 2.13\n")
    (config.baselines / "reasons.toml").write_text('"it::one" = 3\n')
    code, out = verify(capsys)
    assert code == 1
    assert "baselines/environment.toml:1: not what guard accept writes\n" in out
    assert "baselines/reasons.toml:1: holds more than a reason a check\n" in out


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('"calls": 3', '"calls": 3.5', 6, "wanted"),
        ('"calls": 3', '"calls":  3', 6, "not as guard prints it"),
        ('"it::one"', '"it::won"', 2, 'holds check "it::won", whose file is "baselines/it/won.cost.json"'),
        ('   "calls": 3', "<<<<<<< HEAD", 6, "merge conflict marker"),
    ],
)
def test_a_damaged_trace_cost_is_told_with_its_line(  # noqa: PLR0913, PLR0917 - a row of the table
    config: Config, capsys: pytest.CaptureFixture[str], old: str, new: str, line: int, said: str
) -> None:
    text = costs.dump("it::one", {"linux": Section(3, 0.02)})
    path = config.baselines / cost_path("it::one")
    write_whole(path, text)
    Repository(config.root).commit()
    assert verify(capsys)[0] == 0
    write_whole(path, text.replace(old.encode(), new.encode()))
    code, out = verify(capsys)
    assert code == 1
    assert f"baselines/it/one.cost.json:{line}: " in out
    assert said in out


def test_a_trace_cost_goes_with_its_graph(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    write_whole(config.baselines / cost_path("it::one"), costs.dump("it::one", {"linux": Section(3, 0.02)}))
    code, out = verify(capsys)
    assert code == 1
    assert "baselines/it/one.cost.json:1: is not tracked\n" in out  # as its graph is
    (config.checks / "test_it.py").write_text(CHECKS.replace("test_one", "test_zero"))
    Repository(config.root).git("rm", "--quiet", "baselines/it/one.graph")
    Repository(config.root).git("add", "baselines")
    assert "baselines/it/one.cost.json:1: there is no graph beside this trace cost\n" in verify(capsys)[1]


def test_a_check_that_is_gone_and_one_that_is_new(
    config: Config, git: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (config.checks / "test_it.py").write_text(CHECKS.replace("test_one", "test_new"))
    code, out = verify(capsys)
    assert (code, out) == (
        1,
        (
            'baselines/it/one.graph:2: "it::one" has no check: "checks/test_it.py" has no one\n'
            "  git rm -- baselines/it/one.graph\n"
            'checks/test_it.py:3: "it::new" uses guard and has no baseline\n'
            '  guard update "it::new"\n'
            "3 baselines verified, 2 faults\n"
        ),
    )
    git.git("rm", "--quiet", "baselines/it/one.graph")  # the fix, as it is printed
    assert "orphan" not in json.dumps(json.loads(verify(capsys, "--format", "json")[1]))


def test_a_module_that_is_gone_or_does_not_parse(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    module = config.checks / "test_it.py"
    module.write_text("def test_one(guard:\n")
    code, out = verify(capsys)
    assert code == 1
    assert out.startswith("checks/test_it.py:1: does not parse: ")
    assert out.endswith("3 baselines verified, 1 fault\n")
    module.unlink()
    assert verify(capsys)[1].count("its module it is gone") == 3


def test_what_is_not_staged_is_named(config: Config, git: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    path = record(config, "it::one", GRAPH.format("it::one").replace("f32[4]", "f32[8]"))
    Store(config).path(IDS[1]).unlink()
    new = record(config, "it::TestStep.two[3]")
    code, out = verify(capsys)
    assert code == 1
    assert "baselines/it/one.graph:1: has changes that are not staged\n  git add -- baselines/it/one.graph\n" in out
    assert "two[1].graph:1: is deleted, and its deletion is not staged\n" in out
    assert "two[3].graph:1: is not tracked\n  git add --force -- 'baselines/it/TestStep.two[3].graph'\n" in out
    git.git("add", "--", "baselines")
    assert verify(capsys)[0] == 0
    os.utime(path)  # git compares the content of a file whose times moved
    os.utime(new)
    assert verify(capsys)[0] == 0


def test_an_ignored_baseline_is_in_no_commit(
    config: Config, git: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    git.write(".gitignore", "*.graph\n")
    record(config, "it::TestStep.two[3]")
    assert "two[3].graph:1: is not tracked" in verify(capsys)[1]


def test_work_that_is_not_in_the_commit_blocks_nothing(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    """A new module and its baselines, neither tracked; and the baseline of a check whose code a hook has stashed."""
    (config.checks / "test_later.py").write_text("def test_later(guard): ...\ndef test_never(guard): ...\n")
    record(config, "later::later")
    record(config, "it::stashed")
    assert verify(capsys) == (
        0,
        (
            'note: files that git does not track: 3, such as "baselines/it/stashed.graph"; not judged\n'
            "5 baselines verified, no faults\n"
        ),
    )


def test_a_baseline_is_committed_with_its_check(
    config: Config, git: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (config.checks / "test_later.py").write_text("def test_later(guard): ...\n")
    git.git("add", "--", Store(config).shown(record(config, "later::later")))
    code, out = verify(capsys)
    assert code == 1
    assert out.startswith(
        "checks/test_later.py:1: is not tracked, and baselines of its checks are\n  git add -- checks/test_later.py\n"
    )


def test_the_index_of_the_commit_is_asked(
    config: Config, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``git commit -a`` stages into an index of its own, which hooks get by name."""
    record(config, "it::one", GRAPH.format("it::one").replace("f32[4]", "f32[8]"))
    assert verify(capsys)[0] == 1
    own = config.root / ".git/next-index"
    own.write_bytes((config.root / ".git/index").read_bytes())
    monkeypatch.setenv("GIT_INDEX_FILE", str(own))
    subprocess.run(["git", "add", "--", "baselines"], check=True)  # noqa: S607 - whichever git the tests find
    assert verify(capsys)[0] == 0
    other = tmp_path / "other"
    repository(other).commit()
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))  # a hook of another repository's
    assert verify(capsys)[0] == 1


def test_state_that_is_committed_is_not_trusted(
    config: Config, git: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cache that came with a branch calls a damaged baseline right."""
    path = record(config, "it::one", GRAPH.format("it::one").replace("return %a", "return %b"))
    verify(capsys)
    cache = config.state / "cache/verified.json"
    kept = json.loads(cache.read_text())
    from guard.baselines.audit.cache import _digest

    kept["right"].append(_digest("it/one.graph", path.read_bytes()))
    cache.write_text(json.dumps(kept))
    git.git("add", "--", "baselines")
    assert verify(capsys)[0] == 0  # planted: the cache does lie
    git.git("add", "--force", "--", ".guard/cache/verified.json")
    code, out = verify(capsys)
    assert code == 1
    assert ".guard/cache/verified.json:1: guard's own state is tracked" in out
    assert "baselines/it/one.graph:6: " in out


def test_ci_starts_from_no_cache(
    config: Config, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    assert verify(capsys)[0] == 0
    assert not config.state.exists()


def test_outside_git_the_rest_is_verified(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    (config.root / ".git").rename(config.root.parent / "away")
    assert verify(capsys) == (
        0,
        ("note: what is staged was not looked at: this is no git repository\n3 baselines verified, no faults\n"),
    )


def test_pending_files_are_a_note(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    write_pending(config, "it::one", GRAPH.format("it::one"), Meta(torch="2.13.0", baseline=None))
    assert verify(capsys)[1].startswith("note: 1 wait to be accepted: guard review\n")


def test_files_choose_what_is_spoken_of(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    record(config, "it::one", "torn\n")
    (config.checks / "test_it.py").write_text("x = (\n")
    assert len(json.loads(verify(capsys, "--format", "json")[1])["faults"]) > 2
    chosen = json.loads(verify(capsys, "checks/test_it.py", "--format", "json")[1])["faults"]
    assert [fault["kind"] for fault in chosen] == ["module"]
    assert verify(capsys, "pyproject.toml")[0] == 0


def test_nothing_to_verify_is_4(git: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    git.git("rm", "--quiet", "-r", "baselines", "checks")
    assert verify(capsys) == (4, "no baselines verified, no faults\n")


def test_a_subfolder_of_a_repository(
    config: Config, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_CEILING_DIRECTORIES")
    (config.root / ".git").rename(config.root.parent / ".git")
    top = Repository(config.root.parent)
    top.commit()
    assert verify(capsys)[0] == 0
    record(config, "it::one", GRAPH.format("it::one").replace("f32[4]", "f32[8]"))
    assert "baselines/it/one.graph:1: has changes that are not staged\n" in verify(capsys)[1]


def test_nothing_but_the_standard_library_is_imported_and_nothing_is_written(config: Config) -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom guard.__main__ import main\nassert main(['verify']) == 0\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(tops - sys.stdlib_module_names - {'guard', 'tomli'}))"
    )
    before = snapshot(config.root)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"
    assert snapshot(config.root) == before


def snapshot(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and ".guard" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def test_the_project_s_own_baselines_are_right() -> None:
    """What is staged, and whether a check in the making has a baseline, is the work of the day."""
    found = audit(load(ROOT), {"CI": "true"})
    assert found.baselines > 100
    assert [fault for fault in found.faults if fault.kind not in ("unstaged", "missing")] == []

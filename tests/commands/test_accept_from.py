"""guard accept --from: what another machine saw, verified; nothing of it is evaluated or followed."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from guard.__main__ import main
from guard.baselines.meta import Meta
from guard.baselines.names import relative_path
from guard.baselines.origin import leave_origin
from guard.baselines.pending import digest, digests, write_pending
from guard.config import load
from tests.commands.test_diff import graph
from tests.repository import Repository, repository

if TYPE_CHECKING:
    from collections.abc import Callable

ENVIRONMENT = {"torch": "2.13.0+cpu", "python": "3.12", "platform": "darwin-arm64", "device": "cpu"}
CHECK = "it::one"


def see(check: str = CHECK, op: str = "sin", **changes: Any) -> None:
    """Leave in the pending folder what a check of this commit sees."""
    config = load()
    baseline = config.baselines / relative_path(check)
    known = {
        "torch": "2.13.0+cpu",
        "python": "3.12",
        "platform": "darwin-arm64",
        "baseline": digest(baseline.read_bytes()) if baseline.exists() else None,
        "sources": digests(config.root, ["model.py"]),
    }
    meta = Meta(**known | changes)
    write_pending(config, check, None if meta.action == "remove" else graph(check, op), meta)


def leave(*checks: str, commit: str | None = None) -> None:
    head = Repository(Path.cwd()).git("rev-parse", "HEAD").strip()
    leave_origin(load(), checks or (CHECK,), head if commit is None else commit, ENVIRONMENT)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed project, and beside it what a check of another machine left of that commit."""
    here = repository(tmp_path / "project")
    here.write("pyproject.toml", "[tool.guard]\n")
    here.write(".gitignore", ".guard/\n")
    here.write("model.py", "def ops(): ...\n")
    here.write("checks/test_it.py", "")
    here.write(f"baselines/{relative_path(CHECK)}", graph(CHECK, "neg"))
    here.commit("first")
    monkeypatch.chdir(here.top)
    monkeypatch.delenv("CI", raising=False)
    see()
    leave()
    return deliver(tmp_path / "delivery")


def deliver(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(Path(".guard/pending"), path)
    shutil.rmtree(".guard")
    return path


def accept(path: Path, *arguments: str) -> int:
    return main(["accept", "--from", str(path), *arguments])


def baseline(check: str = CHECK) -> str:
    return Path("baselines", relative_path(check)).read_text("utf-8")


def record(path: Path, check: str = CHECK) -> Path:
    return path / f"{relative_path(check)}.json"


def relist(path: Path, check: str = CHECK) -> None:
    """Make the origin fit an edited record, as whoever forges a delivery would."""
    origin = json.loads((path / "origin.json").read_bytes())
    name = record(path, check).relative_to(path).as_posix()
    origin["captures"][name] = digest(record(path, check).read_bytes())
    (path / "origin.json").write_text(json.dumps(origin))


def test_what_was_captured_of_this_commit_is_the_baseline(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert accept(there) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0].endswith("torch 2.13.0+cpu, python 3.12, platform darwin-arm64, device cpu")
    assert 'accepted: "it::one"' in said.out
    assert "git add -- " in said.out
    assert said.err == ""
    assert baseline() == graph(CHECK, "sin")
    assert 'python = "3.12"' in Path("baselines/environment.toml").read_text("utf-8")
    assert not list(Path(".guard/pending").rglob("*"))


def zipped(path: Path) -> Path:
    return Path(shutil.make_archive(str(path), "zip", path))


def within(path: Path) -> Path:
    """Put it where a download puts each artifact, and another with the same beside it."""
    top = path.parent / "downloads"
    shutil.copytree(path, top / "guard-pending-cpu-1")
    shutil.copytree(path, top / "guard-pending-cpu-2" / ".guard" / "pending")
    return top


@pytest.mark.parametrize("shape", [zipped, within])
def test_a_zip_file_and_a_folder_of_several_are_taken(there: Path, shape: Callable[[Path], Path]) -> None:
    assert accept(shape(there), "--all") == 0
    assert baseline() == graph(CHECK, "sin")


def test_only_what_was_named_is_taken(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    see()
    see("it::two")
    leave(CHECK, "it::two")
    two = deliver(there)
    assert accept(two, "it::two") == 0
    assert (baseline(), baseline("it::two")) == (graph(CHECK, "neg"), graph("it::two", "sin"))
    assert accept(two, "it::none") == 2
    assert 'not delivered, or refused: "it::none"' in capsys.readouterr().err


def test_another_commit_whose_sources_are_the_same_is_fine(there: Path) -> None:
    Repository(Path.cwd()).write("README", "x")
    Repository(Path.cwd()).commit("second")
    assert accept(there) == 0


def refused(path: Path, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = baseline()
    assert accept(path) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert baseline() == before
    assert not list(Path(".guard").rglob("*.graph"))


def test_another_commit_whose_sources_differ_is_refused(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.py").write_text("def ops(): return 2\n")
    Repository(Path.cwd()).commit("second")
    refused(there, 'refused: "it::one": it was captured at ', capsys)


def test_what_names_no_sources_is_bound_to_its_commit(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    see(sources={})
    leave()
    path = deliver(there)
    Repository(Path.cwd()).commit("second")
    refused(path, "it names no sources that could be compared", capsys)


def test_a_removal_is_bound_to_its_commit_and_is_taken_there(there: Path) -> None:
    see(action="remove", sources={})
    leave()
    assert accept(deliver(there)) == 0
    assert not Path("baselines", relative_path(CHECK)).exists()


def test_two_that_differ_are_refused(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    see(op="cos")
    leave()
    shutil.copytree(".guard/pending", there / "gpu")
    shutil.rmtree(".guard")
    assert accept(there) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == 'refused: "it::one": there are two captures of it that differ, on cpu and cpu'


def plant_text(path: Path) -> None:
    (path / relative_path(CHECK)).write_text(graph(CHECK, "cos"))


def plant_record(path: Path) -> None:
    record(path).write_text(record(path).read_text().replace("model.py", "other.py"))


def plant_gone(path: Path) -> None:
    (path / relative_path(CHECK)).unlink()


def plant_unlisted(path: Path) -> None:
    for name in (relative_path(CHECK), f"{relative_path(CHECK)}.json"):
        shutil.copy(path / name, path / name.replace("one", "two"))


def plant_other_check(path: Path) -> None:
    record(path).write_text(record(path).read_text().replace('"it::one"', '"it::two"'))
    relist(path)


def plant_no_graph(path: Path) -> None:
    text = "format graph-guard 1\n__import__('os').system('touch pwned')\n"
    (path / relative_path(CHECK)).write_text(text)
    data = json.loads(record(path).read_bytes()) | {"text": digest(text.encode())}
    record(path).write_text(json.dumps(data))
    relist(path)


def plant_toml(path: Path) -> None:
    data = json.loads(record(path).read_bytes()) | {"torch": '2.13"\nx = "y'}
    record(path).write_text(json.dumps(data))
    relist(path)


def plant_fixes_off(path: Path) -> None:
    record(path).write_text(record(path).read_text().replace('"fixes": "on"', '"fixes": "off"'))
    relist(path)


def plant_link(path: Path) -> None:
    (path / relative_path(CHECK)).unlink()
    (path / relative_path(CHECK)).symlink_to(Path("pyproject.toml").resolve())


def plant_deep(path: Path) -> None:
    (path / "origin.json").write_text("[" * 100_000)


def plant_no_origin(path: Path) -> None:
    (path / "origin.json").unlink()


def plant_bad_commit(path: Path) -> None:
    (path / "origin.json").write_text((path / "origin.json").read_text().replace('"commit": "', '"commit": "\\u001b'))


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (plant_text, "its text is not the one that was captured"),
        (plant_record, "it is not there as it was captured"),
        (plant_gone, "is not there"),
        (plant_other_check, "it names a check whose file is another"),
        (plant_no_graph, "its pending file does not parse"),
        (plant_toml, "a version or device that is none"),
        (plant_fixes_off, "it was captured with --fixes off"),
        (plant_link, "is a link"),
        (plant_deep, "does not read: it is nested too deeply"),
        (plant_no_origin, 'has no "origin.json"'),
        (plant_bad_commit, '"commit" is no full hash'),
    ],
)
def test_what_is_not_what_a_check_left_is_refused(
    there: Path, plant: Callable[[Path], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(there)
    refused(there, said, capsys)
    assert not Path("pwned").exists()


def test_one_that_is_refused_does_not_keep_the_others(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant_unlisted(there)
    assert accept(there) == 2
    assert '"it/two.graph.json": the run that left the others did not capture it' in capsys.readouterr().err
    assert baseline() == graph(CHECK, "sin")
    assert not Path("baselines/it/two.graph").exists()


def test_a_zip_file_that_leads_out_is_refused_whole(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = zipped(there)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../checks/test_it.py", "import os")
    refused(path, "which leads out of it", capsys)


def test_a_baseline_that_has_moved_since_is_not_overwritten(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("baselines", relative_path(CHECK)).write_text(graph(CHECK, "exp"))
    refused(there, "the baseline has changed since the check ran", capsys)


def test_ci_blesses_nothing(there: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CI", "true")
    refused(there, "baselines are not written in CI", capsys)


def origin() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(".guard/pending/origin.json").read_bytes())
    return found


def test_a_second_run_of_the_commit_adds_to_the_first_and_one_of_another_does_not(there: Path) -> None:
    assert there.is_dir()
    see()
    leave()
    see("it::two")
    leave("it::two")
    assert list(origin()["captures"]) == ["it/one.graph.json", "it/two.graph.json"]
    see(op="cos")  # by a run that was killed before it could say so
    leave("it::two")
    assert list(origin()["captures"]) == ["it/two.graph.json"]
    leave("it::two", commit="b" * 40)
    assert (list(origin()["captures"]), origin()["commit"]) == (["it/two.graph.json"], "b" * 40)
    assert main(["reject", "--all"]) == 0
    assert not list(Path(".guard/pending").rglob("*"))

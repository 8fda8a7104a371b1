from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from guard import environment
from guard.baselines import accept as room
from guard.baselines.accept import Accepted, accept, refuse_in_ci
from guard.baselines.disk import TEMPORARY, write_whole
from guard.baselines.meta import Meta
from guard.baselines.pending import digest, digests, pending_path, read_pending, write_pending
from guard.baselines.store import Store
from guard.errors import GuardError

if TYPE_CHECKING:
    from guard.config import Config

GRAPH = """\
guard-graph 1
check {}
tracer make_fx(tracing_mode=real)

graph main(%a: f32[4]) -> (f32[4]) {{
  %0: f32[4] = {}(%a)
  return %0
}}
"""
META = Meta(torch="2.13.0+cpu", baseline=None)
NO_CI: dict[str, str] = {}


def graph(check: str, target: str = "aten.neg.default") -> str:
    return GRAPH.format(check, target)


def waits(config: Config, check: str = "a::b", text: str | None = None, **meta: Any) -> str:
    """Leave a pending capture that is in order, but for what ``meta`` says."""
    baseline = Store(config).read(check)
    bound = replace(META, baseline=None if baseline is None else digest(baseline))
    text = graph(check) if text is None else text
    write_pending(config, check, None if meta.get("action") == "remove" else text, replace(bound, **meta))
    return text


def refusal(config: Config, check: str = "a::b") -> str:
    """Accept and return why it was refused; the store is as before and the capture still waits."""
    before = {path: path.read_bytes() for path in config.baselines.rglob("*") if path.is_file()}
    done = accept(config, [check], environ=NO_CI)
    after = {path: path.read_bytes() for path in config.baselines.rglob("*") if path.is_file()}
    assert after == before
    assert (done.written, done.removed, done.settled) == ((), (), ())
    (sentence,) = done.refused
    return sentence


def test_the_first_record_writes_the_graph_and_its_environment(config: Config) -> None:
    text = waits(config)
    done = accept(config, ["a::b"], environ=NO_CI)
    assert done == Accepted(("baselines/a/b.graph", "baselines/environment.toml"), settled=("a::b",))
    assert Store(config).read("a::b") == text.encode()
    assert read_pending(config, "a::b") is None
    recorded = environment.parse((config.baselines / "environment.toml").read_text())
    assert recorded == replace(environment.current(), torch="2.13.0+cpu")


def test_the_environment_is_written_again_for_another_torch_only(config: Config) -> None:
    for check, torch in (("a::b", "2.13.0"), ("a::c", "2.13.0"), ("a::d", "2.14.1")):
        waits(config, check, torch=torch)
    done = accept(config, ["a::b", "a::c", "a::d"], environ=NO_CI)
    file = "baselines/environment.toml"
    assert done.written == ("baselines/a/b.graph", file, "baselines/a/c.graph", "baselines/a/d.graph", file)
    assert 'torch = "2.14.1"' in (config.root / file).read_text()


def test_a_change_replaces_and_a_removal_removes(config: Config) -> None:
    waits(config)
    accept(config, ["a::b"], environ=NO_CI)
    text = waits(config, text=graph("a::b", "aten.relu.default"))
    assert accept(config, ["a::b"], environ=NO_CI).written == ("baselines/a/b.graph",)
    assert Store(config).read("a::b") == text.encode()
    waits(config, action="remove")
    assert accept(config, ["a::b"], environ=NO_CI).removed == ("baselines/a/b.graph",)
    assert Store(config).read("a::b") is None
    assert not (config.baselines / "a").exists()


def test_one_that_is_refused_keeps_no_other_back(config: Config) -> None:
    waits(config, "a::b", fixes="off")
    waits(config, "a::c")
    done = accept(config, ["a::b", "a::c", "a::d"], environ=NO_CI)
    assert done.settled == ("a::c",)
    assert [text[:7] for text in done.refused] == ['"a::b":', '"a::d":']


def test_fixes_off_is_refused(config: Config) -> None:
    waits(config, fixes="off")
    assert refusal(config) == '"a::b": it was captured with --fixes off; run: guard check "a::b"'
    assert read_pending(config, "a::b") is not None


@pytest.mark.parametrize("before", [None, "other"])
def test_a_baseline_that_moved_since_is_refused(config: Config, before: str | None) -> None:
    if before is not None:
        write_whole(Store(config).path("a::b"), before.encode())
    waits(config)
    write_whole(Store(config).path("a::b"), b"edited")
    assert "the baseline has changed since the check ran" in refusal(config)


def test_a_baseline_that_went_since_is_refused(config: Config) -> None:
    write_whole(Store(config).path("a::b"), b"before")
    waits(config)
    Store(config).path("a::b").unlink()
    assert "the baseline has changed" in refusal(config)


def test_a_capture_that_is_the_baseline_already_is_settled(config: Config) -> None:
    text = waits(config)
    write_whole(Store(config).path("a::b"), text.encode())  # as a kill between the write and the rest leaves it
    assert accept(config, ["a::b"], environ=NO_CI) == Accepted(("baselines/environment.toml",), settled=("a::b",))
    assert read_pending(config, "a::b") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not parse"),
        ("<<<<<<<\n", "does not parse"),
        (graph("a::b")[:-2], "does not parse"),
        (graph("a::c"), 'holds check "a::c"'),
    ],
    ids=["empty", "conflict", "torn", "other"],
)
def test_a_text_that_is_not_this_check_s_graph_is_refused(config: Config, text: str, why: str) -> None:
    waits(config, text=text)
    assert why in refusal(config)


def test_hostile_json_is_refused_and_kept(config: Config) -> None:
    waits(config)
    meta = pending_path(config, "a::b").with_name("b.graph.json")
    meta.write_text('{"check": "../../../../etc/evil::x"}')
    assert "its pending file is not right" in refusal(config)
    assert meta.exists()


def test_a_link_out_of_the_store_is_refused(config: Config, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    config.baselines.mkdir()
    (config.baselines / "a").symlink_to(tmp_path / "outside")
    waits(config)
    assert "leads out of the baselines folder" in refusal(config)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_linked_file_is_replaced_never_followed(config: Config, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("before")
    (config.baselines / "a").mkdir(parents=True)
    Store(config).path("a::b").symlink_to(tmp_path / "outside")
    waits(config)
    assert accept(config, ["a::b"], environ=NO_CI).settled == ("a::b",)
    assert (tmp_path / "outside").read_text() == "before"


def test_sources_that_moved_are_a_warning(config: Config) -> None:
    for name in "pqrs":
        (config.root / f"{name}.py").write_text("1")
    waits(config, sources=digests(config.root, ["p.py", "q.py", "r.py", "s.py"]))
    for name in "qrs":
        (config.root / f"{name}.py").write_text("2")
    (config.root / "p.py").unlink()
    done = accept(config, ["a::b"], environ=NO_CI)
    assert done.settled == ("a::b",)
    assert done.warnings == ('"a::b" was captured before p.py, q.py, r.py ... changed; run: guard check "a::b"',)


def test_a_full_disk_refuses_and_loses_nothing(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    waits(config)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert '"baselines/a/b.graph" cannot be written: No space left on device' in refusal(config)
    assert read_pending(config, "a::b") is not None


def test_a_file_in_a_folder_s_place_refuses(config: Config) -> None:
    write_whole(config.baselines / "a", b"")
    waits(config)
    assert '"baselines/a" cannot be written' in refusal(config)
    assert read_pending(config, "a::b") is not None


def test_a_state_folder_that_cannot_be_written_is_a_sentence(config: Config) -> None:
    config.state.write_text("a file in its place")
    with pytest.raises(GuardError, match="cannot be written") as caught:
        accept(config, ["a::b"], environ=NO_CI)
    assert caught.value.exit_code == 2


def test_a_lock_that_is_held_is_a_sentence(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    monkeypatch.setattr(room, "LOCK_SECONDS", 0.05)
    waits(config)
    with FileLock(config.state / "lock"), pytest.raises(GuardError, match="another guard is writing baselines"):
        accept(config, ["a::b"], environ=NO_CI)
    assert read_pending(config, "a::b") is not None


def test_leftovers_of_a_killed_accept_go(config: Config) -> None:
    write_whole(config.baselines / f"{TEMPORARY}77", b"half")
    accept(config, [], environ=NO_CI)
    assert list(config.baselines.iterdir()) == []


@pytest.mark.parametrize("value", ["true", "1", "yes", "woodpecker"])
def test_ci_is_refused_before_anything_is_touched(config: Config, value: str) -> None:
    waits(config)
    with pytest.raises(GuardError, match="baselines are not written in CI"):
        accept(config, ["a::b"], environ={"CI": value})
    assert not config.baselines.exists()
    assert accept(config, ["a::b"], in_ci=True, environ={"CI": value}).settled == ("a::b",)


@pytest.mark.parametrize("environ", [{}, {"CI": ""}, {"CI": "false"}, {"CI": "0"}])
def test_what_is_no_ci(environ: dict[str, str]) -> None:
    refuse_in_ci(environ, in_ci=False)

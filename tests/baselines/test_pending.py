from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from guard.baselines.disk import write_whole
from guard.baselines.meta import Meta
from guard.baselines.pending import (
    Broken,
    Pending,
    all_pending,
    digests,
    drop_pending,
    pending_path,
    read_pending,
    write_pending,
)
from guard.errors import GuardError

if TYPE_CHECKING:
    from pathlib import Path

    from guard.config import Config

META = Meta(torch="2.13.0+cpu", baseline=None, sources={"checks/test_a.py": "12"})


def test_what_is_written_is_read(config: Config) -> None:
    shown = write_pending(config, "a::b[é/]", "text\n", META)
    assert shown == ".guard/pending/a/b[é%2F].graph"
    assert read_pending(config, "a::b[é/]") == Pending("a::b[é/]", META, b"text\n")
    assert all_pending(config) == (Pending("a::b[é/]", META, b"text\n"),)
    assert (config.state / ".gitignore").read_text() == "*\n"


def test_a_later_check_replaces_it(config: Config) -> None:
    write_pending(config, "a::b", "one\n", META)
    removal = Meta(torch="2.13.0", baseline="77", action="remove", fixes="off", device="cuda:0")
    write_pending(config, "a::b", None, removal)
    found = read_pending(config, "a::b")
    assert isinstance(found, Pending)
    assert (found.text, found.meta.action, found.meta.fixes, found.meta.baseline) == (None, "remove", "off", "77")
    assert not pending_path(config, "a::b").exists()


def test_dropped_without_a_trace(config: Config) -> None:
    write_pending(config, "a/b/c::d", "one\n", META)
    assert drop_pending(config, "a/b/c::d") is True
    assert drop_pending(config, "a/b/c::d") is False
    assert read_pending(config, "a/b/c::d") is None
    assert list((config.state / "pending").iterdir()) == []


def test_a_torn_pair_is_broken(config: Config) -> None:
    write_pending(config, "a::b", "one\n", META)
    write_whole(pending_path(config, "a::b"), b"two\n")
    assert read_pending(config, "a::b") == Broken(
        pending_path(config, "a::b").with_name("b.graph.json"), "its text is not the one that was captured"
    )


HOSTILE: dict[str, dict[str, Any] | str] = {
    "no JSON": "{",
    "deep": "[" * 200_000,
    "a list": "[]",
    "a number": "3",
    "null": "null",
    "no fields": "{}",
    "not UTF-8": "\udcff",
    "another's id": {"check": "../../x::y"},
    "id no text": {"check": 3},
    "unknown action": {"action": "delete"},
    "unknown fixes": {"fixes": "maybe"},
    "action list": {"action": ["record"]},
    "remove with text": {"action": "remove"},
    "record without text": {"text": None},
    "another digest": {"text": "00"},
    "baseline number": {"baseline": 3},
    "sources list": {"sources": [1, 2]},
    "sources numbers": {"sources": {"a": 1}},
    "torch breaks TOML": {"torch": '2"\nx = "1'},
    "device breaks TOML": {"device": "cpu\n"},
    "unknown key": {"more": 1},
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_json_is_broken_never_an_exception(config: Config, change: dict[str, Any] | str) -> None:
    path = pending_path(config, "a::b")
    write_pending(config, "a::b", "one\n", META)
    meta = path.with_name("b.graph.json")
    text = change if isinstance(change, str) else json.dumps({**json.loads(meta.read_text()), **change})
    meta.write_bytes(text.encode(errors="surrogateescape"))
    found = all_pending(config)
    assert len(found) == 1
    assert isinstance(found[0], Broken)
    assert path.read_text() == "one\n"


def test_a_file_cannot_speak_for_another_check(config: Config) -> None:
    write_pending(config, "a::b", "one\n", META)
    write_pending(config, "a::c", "one\n", META)
    path = pending_path(config, "a::b")
    path.with_name("b.graph.json").write_bytes(path.with_name("c.graph.json").read_bytes())
    assert read_pending(config, "a::b") == Broken(
        path.with_name("b.graph.json"), "it names a check whose file is another"
    )
    assert isinstance(read_pending(config, "a::c"), Pending)


def test_a_huge_json_is_not_read(config: Config) -> None:
    write_pending(config, "a::b", "one\n", META)
    with pending_path(config, "a::b").with_name("b.graph.json").open("ab") as stream:
        stream.truncate(5 << 20)
    assert isinstance(read_pending(config, "a::b"), Broken)


def test_digests_are_of_the_project_s_files_only(config: Config, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    outside: list[str | Path] = [tmp_path.parent / "b.py", f"../{tmp_path.name}x.py"]
    for path in outside:
        (config.root / path).write_text("x")
    found = digests(config.root, [tmp_path / "a.py", "checks/gone.py", "checks/../a.py", "a.py", *outside])
    assert list(found) == ["a.py"]
    (tmp_path / "a.py").write_text("y")
    assert digests(config.root, ["a.py"]) != found


def test_a_state_that_cannot_be_written_is_a_sentence(config: Config) -> None:
    config.state.write_text("a file in its place")
    with pytest.raises(GuardError, match="cannot be written"):
        write_pending(config, "a::b", "one\n", META)

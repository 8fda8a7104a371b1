"""accept, reject, list and show on a project whose pending files are put there by hand: none of them runs a check."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from guard.__main__ import main
from guard.baselines.disk import write_whole
from guard.baselines.meta import Meta
from guard.baselines.pending import digest, pending_path, write_pending
from guard.baselines.store import Store
from guard.config import Config, load

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = "guard-graph 1\ncheck {}\ntracer make_fx\n\ngraph main(%a: f32[4]) -> (f32[4]) {{\n  return %a\n}}\n"
HOSTILE = "a::b[\"$x`id`']"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A project that is the working directory, outside CI."""
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\n")
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_a.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return load(tmp_path)


def record(config: Config, *checks: str) -> None:
    for check in checks:
        write_whole(Store(config).path(check), GRAPH.format(check).encode())


def waits(config: Config, *checks: str, **meta: Any) -> None:
    for check in checks:
        before = Store(config).read(check)
        bound = Meta(torch="2.13.0", baseline=None if before is None else digest(before), **meta)
        text = (
            None if bound.action == "remove" else GRAPH.format(check).replace("make_fx", "make_fx(tracing_mode=fake)")
        )
        write_pending(config, check, text, bound)


def test_accept_names_what_it_did_and_the_next_command(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    waits(config, "a::b", HOSTILE)
    assert main(["accept", HOSTILE]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.splitlines() == [
        """accepted: 'a::b["$x`id`'"'"']'""",
        """git add -- 'baselines/a/b[%22$x`id`'"'"'].graph' baselines/environment.toml""",
    ]
    assert Store(config).ids() == (HOSTILE,)


def test_accept_all_and_then_nothing(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    waits(config, *(f"a::b{number}" for number in range(10)))
    assert main(["accept", "--all"]) == 0
    assert capsys.readouterr().out.endswith("\ngit add -- baselines\n")
    assert main(["accept", "--all"]) == 0
    assert capsys.readouterr().out == "nothing is pending\n"


@pytest.mark.parametrize("selector", ["checks/test_a.py::test_b", "a", "baselines/a/b.graph", "a::*"])
def test_accept_takes_every_way_to_name_a_check(config: Config, selector: str) -> None:
    waits(config, "a::b")
    assert main(["accept", selector]) == 0
    assert Store(config).ids() == ("a::b",)


def test_paths_are_seen_from_the_working_directory(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    waits(config, "a::b", "c::d")
    monkeypatch.chdir(config.checks)
    assert main(["accept", "test_a.py"]) == 0
    assert main(["accept", str(config.checks / "test_c.py")]) == 2  # no such file
    assert Store(config).ids() == ("a::b",)


def test_accept_without_a_name_lists_what_waits(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accept"]) == 2
    assert capsys.readouterr().err == "error: accept what?\n  nothing is pending: guard check\n"
    waits(config, "a::b", "a::c")
    assert main(["accept"]) == 2
    assert capsys.readouterr().err == 'error: accept what?\n  pending, or --all of them:\n    "a::b"\n    "a::c"\n'
    assert Store(config).ids() == ()


def test_accept_of_what_does_not_wait(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    waits(config, "nested_trace::expand")
    assert main(["accept", "nested_trace::expnd"]) == 2
    assert capsys.readouterr().err == (
        'error: nothing is pending for "nested_trace::expnd"\n  did you mean "nested_trace::expand"?\n'
    )


def test_a_refusal_is_2_and_the_rest_is_taken(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    waits(config, "a::b", fixes="off")
    waits(config, "a::c")
    pending_path(config, "a::d").with_name("d.graph.json").write_text("{")
    assert main(["accept", "--all"]) == 2
    captured = capsys.readouterr()
    assert 'accepted: "a::c"' in captured.out
    assert 'refused: "a::b": it was captured with --fixes off' in captured.err
    assert 'refused: "a::d": its pending file is not right' in captured.err
    assert Store(config).ids() == ("a::c",)


def test_accept_in_ci(config: Config, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CI", "true")
    waits(config, "a::b")
    assert main(["accept", "--all"]) == 2
    assert "baselines are not written in CI" in capsys.readouterr().err
    assert main(["accept", "--all", "--in-ci"]) == 0


def test_moved_sources_are_a_warning(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    waits(config, "a::b", sources={"checks/test_a.py": "00"})
    assert main(["accept", "a::b"]) == 0
    assert capsys.readouterr().err.startswith('warning: "a::b" was captured before checks/test_a.py changed')


def test_a_removal_is_staged_too(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    record(config, "a::b", "a::c")
    waits(config, "a::b", action="remove")
    assert main(["accept", "a::b"]) == 0
    assert capsys.readouterr().out == (
        'accepted: "a::b"\nremoved: baselines/a/b.graph\ngit add -- baselines/a/b.graph\n'
    )
    assert Store(config).ids() == ("a::c",)


def test_reject_forgets_and_keeps_the_baseline(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    record(config, "a::b")
    waits(config, "a::b", "a::c")
    assert main(["reject", "a::b"]) == 0
    assert capsys.readouterr().out == 'rejected: "a::b"\n'
    assert Store(config).read("a::b") == GRAPH.format("a::b").encode()
    assert not pending_path(config, "a::b").exists()
    assert pending_path(config, "a::c").exists()
    assert main(["reject"]) == 2


def test_reject_all_takes_broken_files_too(config: Config) -> None:
    waits(config, "a::b")
    folder = pending_path(config, "a::b").parent
    (folder / f"x~{'0' * 16}.graph.json").write_text("{")
    assert main(["reject", "--all"]) == 0
    assert not folder.exists()
    assert main(["reject", "--all"]) == 0


def test_list(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert capsys.readouterr() == ("", "no baselines yet: guard check, then guard accept --all\n")
    record(config, "a::b", "a::long_one", "b::c")
    waits(config, "a::b", "a::new")
    waits(config, "b::c", action="remove")
    assert main(["list"]) == 0
    assert capsys.readouterr().out == (
        '"a::b"         baseline, pending: record\n'
        '"a::long_one"  baseline\n'
        '"a::new"       pending: record\n'
        '"b::c"         baseline, pending: remove\n'
    )
    assert main(["list", "b", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "checks": [
            {
                "check": "b::c",
                "baseline": "baselines/b/c.graph",
                "pending": "remove",
                "problem": None,
                "trace_cost": None,
            }
        ],
    }
    assert main(["list", "zzz"]) == 2


def test_list_shows_a_file_in_the_wrong_place(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    record(config, "a::b")
    Store(config).path("a::b").rename(config.baselines / "a" / "c.graph")
    assert main(["list"]) == 2
    assert (
        'problem: "baselines/a/c.graph" holds check "a::b", whose file is "baselines/a/b.graph"'
        in capsys.readouterr().out
    )


def test_show(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    record(config, "a::b")
    waits(config, "a::b")
    assert main(["show", "a::b"]) == 0
    assert capsys.readouterr().out == GRAPH.format("a::b")
    assert main(["show", "a::b", "--pending"]) == 0
    assert "make_fx(tracing_mode=fake)" in capsys.readouterr().out
    assert main(["show", "baselines/a/b.graph", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "check": "a::b",
        "kind": "baseline",
        "path": "baselines/a/b.graph",
        "text": GRAPH.format("a::b"),
    }


def test_show_what_is_not_there(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    record(config, "a::b", "a::c")
    waits(config, "a::new")
    waits(config, "a::c", action="remove")
    for arguments, message in (
        (["a::new"], '"a::new" has no baseline\n  guard show "a::new" --pending'),
        (["a::b", "--pending"], 'nothing is pending for "a::b"\n  guard show "a::b"'),
        (["a::c", "--pending"], '"a::c" waits to be removed: it has no text'),
        (["a"], '"a" names 3 checks, wanted one\n  guard show "a::b"'),
        (["a::x"], 'unknown check "a::x"\n  did you mean'),
    ):
        assert main(["show", *arguments]) == 2
        assert capsys.readouterr().err.startswith(f"error: {message}")


def test_show_of_a_broken_file(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    write_whole(Store(config).path("a::b"), b"<<<<<<<\n\xff\x1b[2J\n")
    assert main(["show", "a::b"]) == 0
    assert capsys.readouterr().out == "<<<<<<<\n\\xff\x1b[2J\n"  # a pipe gets the file as it is
    waits(config, "a::b")
    pending_path(config, "a::b").write_text("torn")
    assert main(["show", "a::b", "--pending"]) == 2
    assert 'the pending file of "a::b" is not right' in capsys.readouterr().err

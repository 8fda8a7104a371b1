"""The reason of an accept: what may be one, where it is recorded, when it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.__main__ import main
from guard.baselines import reasons
from guard.baselines.meta import Meta
from guard.baselines.pending import digest, pending_path, write_pending
from guard.baselines.store import Store
from guard.config import Config, load
from guard.errors import GuardError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = "guard-graph 1\ncheck {}\ntracer {}\n\ngraph main(%a: f32[4]) -> (f32[4]) {{\n  return %a\n}}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A project that is the working directory, outside CI."""
    (tmp_path / "checks").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return load(tmp_path)


def waits(config: Config, *checks: str, tracer: str = "make_fx") -> None:
    for check in checks:
        before = Store(config).read(check)
        meta = Meta("2.13.0", None if before is None else digest(before))
        write_pending(config, check, GRAPH.format(check, tracer), meta)


def recorded(config: Config) -> dict[str, str]:
    return reasons.read(config.baselines, "shown")


text = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40).filter(str.isprintable)


@given(st.dictionaries(text, text))
def test_what_is_written_reads_back(table: dict[str, str]) -> None:
    assert reasons.parse(reasons.dump(table), "shown") == table


@pytest.mark.parametrize("wrong", ["  ", "a\nb", "a\x1b[2J", "a\x7f", "\ud800", "x" * 501])
def test_what_is_no_reason(wrong: str) -> None:
    with pytest.raises(UsageError, match="wanted a reason of one line"):
        reasons.checked(wrong)


@pytest.mark.parametrize("data", [b"<<<<<<< HEAD\n", b"\xff", b'"a::b" = 3\n', b'[a]\nb = "c"\n'])
def test_a_file_that_is_none_is_told_and_nothing_is_written(
    project: Config, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    waits(project, "a::b")
    project.baselines.mkdir()
    (project.baselines / reasons.FILE).write_bytes(data)
    with pytest.raises(GuardError):
        reasons.parse(data, "shown")
    assert main(["accept", "a::b"]) == 2
    assert 'error: "baselines/reasons.toml" ' in capsys.readouterr().err
    assert Store(project).ids() == ()
    assert (project.baselines / reasons.FILE).read_bytes() == data


def test_a_reason_is_recorded_beside_the_baseline(project: Config, capsys: pytest.CaptureFixture[str]) -> None:
    waits(project, "a::b", "a::c", "a::d")
    assert main(["accept", "a::b", "a::c", "--reason", ' torch 2.14 "fuses" it ']) == 0
    assert "git add -- baselines/a/b.graph baselines/a/c.graph baselines/environment.toml baselines/reasons.toml" in (
        capsys.readouterr().out
    )
    assert (project.baselines / reasons.FILE).read_text("utf-8") == (
        f'{reasons.HEADER}"a::b" = "torch 2.14 \\"fuses\\" it"\n"a::c" = "torch 2.14 \\"fuses\\" it"\n'
    )
    assert main(["accept", "a::d"]) == 0
    assert "reasons.toml" not in capsys.readouterr().out


def test_a_later_accept_replaces_or_drops_it(project: Config) -> None:
    waits(project, "a::b", "a::c")
    assert main(["accept", "--all", "--reason", "first"]) == 0
    waits(project, "a::b", "a::c", tracer="other")
    assert main(["accept", "a::b", "--reason", "second"]) == 0
    assert main(["accept", "a::c"]) == 0
    assert recorded(project) == {"a::b": "second"}


def test_policy_may_want_one(project: Config, capsys: pytest.CaptureFixture[str]) -> None:
    (project.root / "pyproject.toml").write_text('[tool.guard.policy]\nreasons = "required"\n')
    waits(project, "a::b")
    assert main(["accept", "a::b"]) == 2
    assert capsys.readouterr().err == (
        'error: accept why? [tool.guard.policy] has reasons = "required"\n  pass --reason "why"\n'
    )
    assert main(["update"]) == 2  # before anything runs
    assert "accept why?" in capsys.readouterr().err
    assert Store(project).ids() == ()
    assert main(["accept", "a::b", "--reason", "new"]) == 0
    assert recorded(project) == {"a::b": "new"}


def test_an_accept_that_was_killed_after_its_write_records_it_the_second_time(project: Config) -> None:
    waits(project, "a::b")
    kept = {path: path.read_bytes() for path in pending_path(project, "a::b").parent.iterdir()}
    assert main(["accept", "a::b", "--reason", "first"]) == 0
    (project.baselines / reasons.FILE).unlink()
    for path, data in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert main(["accept", "a::b", "--reason", "first"]) == 0
    assert recorded(project) == {"a::b": "first"}

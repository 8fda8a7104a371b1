"""Baselines that are no graph files: told with place and reason, never written to, mended by update."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.project import empty_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.project import Project

HEAD, BODY = b"guard-graph 1\n", b"  %0: "
TWO = """
def test_one(guard): guard.check(lambda: ["aten.sin.default", "aten.cos.default"], tracer=None)
def test_two(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)
"""
# a name -> what happens to the file, where the message points, and what it says
DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "conflict": (
        lambda good: b"<<<<<<< a\n" + good + b"=======\n" + good + b">>>>>>> b\n",
        "1:1",
        "conflict marker",
    ),
    "conflict-inside": (lambda good: good.replace(BODY, b"<<<<<<< HEAD\n" + BODY), "6:1", "conflict marker"),
    "truncated": (lambda good: good[: good.index(BODY) + 9], "6:", "got the end of the file"),
    "empty": (lambda _: b"", "1:1", "this is no graph file"),
    "version": (lambda good: good.replace(HEAD, b"guard-graph 2\n"), "1:1", "another version of graph-guard"),
    "nul-byte": (lambda good: good.replace(b"sin", b"s\0n"), "6:", "NUL byte"),
    "zeros": (lambda good: b"\0" * len(good), "1:1", "NUL byte"),
    "latin-1": (lambda good: good.replace(b"sin", b"s\xefn"), "6:", "not UTF-8"),
    "utf-16": (lambda good: good.decode().encode("utf-16"), "1:1", "not UTF-8"),
    "huge": (lambda good: good + b"\n" * (100 << 20), "1:1", "wanted at most 67108864 (64 MiB)"),
    "value-twice": (lambda good: good.replace(b"%1: ", b"%0: "), "7:3", '"%0" is defined twice'),
    "graph-twice": (lambda good: good + b"\n" + good[good.index(b"graph main") :], "11:1", '"main" is defined twice'),
}


KINDS: dict[str, Callable[[Path], None]] = {
    "folder": lambda path: path.mkdir(),
    "loop": lambda path: path.symlink_to(path.name),
    "pipe": os.mkfifo,
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = empty_project(tmp_path_factory.mktemp("damaged") / "project")
    project.checks(TWO)
    project.record()
    return project


@pytest.fixture
def baseline(recorded: Project) -> Iterator[Path]:
    path = recorded.root / "baselines" / "it" / "one.graph"
    good = path.read_bytes()
    yield path
    path.write_bytes(good)


def test_damage_is_told_with_its_place_keeps_no_verb_from_working_and_is_mended(project: Project) -> None:
    names = [name.replace("-", "_") for name in DAMAGES]
    project.checks(
        "".join(TWO.replace("test_one", f"test_{name}").replace("test_two", f"test_{name}_good") for name in names)
    )
    assert project.guard("update").returncode == 0
    paths = [project.root / "baselines" / "it" / f"{name}.graph" for name in names]
    good = [path.read_bytes() for path in paths]
    damaged = [damage(data) for (damage, _, _), data in zip(DAMAGES.values(), good, strict=True)]
    for path, data in zip(paths, damaged, strict=True):
        path.write_bytes(data)
    ran = project.guard("check")
    assert (ran.returncode, ran.stderr) == (1, "")
    assert f"{len(names)} hold, {len(names)} unreadable" in ran.stdout
    blocks = {name: found for name in names if (found := _block(ran.stdout, f'unreadable: "it::{name}" - '))}
    for name, (_, place, said) in zip(names, DAMAGES.values(), strict=True):
        assert said in blocks[name]
        assert f"  baselines/it/{name}.graph:{place}" in blocks[name]
        assert f'  try: guard accept "it::{name}"' in blocks[name]
    listed = project.guard("list")
    assert (listed.returncode, listed.stderr, len(listed.stdout.splitlines())) == (0, "", 2 * len(names))
    assert project.guard("show", "it::latin_1").returncode == 0
    assert [path.read_bytes() for path in paths] == damaged
    mended = project.guard("accept", "--all")
    assert (mended.returncode, [path.read_bytes() for path in paths] == good) == (0, True)


def _block(text: str, head: str) -> str:
    """Return a finding with its indented lines."""
    start = text.index(head)
    lines = text[start:].splitlines()
    stop = next(number for number, line in enumerate(lines[1:], 1) if not line.startswith("  "))
    return "\n".join(lines[:stop])


def test_a_line_of_a_million_letters_is_cut(recorded: Project, baseline: Path) -> None:
    baseline.write_bytes(baseline.read_bytes().replace(b"sin", b"s" + b"i" * 1_000_000 + b"n"))
    ran = recorded.guard("check")
    assert (ran.returncode, ran.stdout.startswith("drift: ")) == (1, True)
    assert max(map(len, ran.stdout.splitlines())) < 5000
    assert "more characters" in ran.stdout


def test_a_file_that_holds_another_check_is_told(recorded: Project, baseline: Path) -> None:
    baseline.write_bytes((baseline.parent / "two.graph").read_bytes())
    ran = recorded.guard("check")
    assert ran.returncode == 1
    assert '"baselines/it/one.graph" holds check "it::two", whose file is "baselines/it/two.graph"' in ran.stdout


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX's kinds of files")
def test_what_is_no_file_is_refused_at_once(recorded: Project, baseline: Path, kind: str) -> None:
    baseline.unlink()
    KINDS[kind](baseline)
    try:
        for verb in ("check", "update"):
            ran = recorded.guard(verb, timeout=60)
            assert (ran.returncode, ran.stderr) == (1, "")
            assert 'refused: "it::one" - "baselines/it/one.graph" cannot be read: ' in ran.stdout
        assert recorded.guard("list", timeout=20).returncode == 0
    finally:
        baseline.rmdir() if kind == "folder" else baseline.unlink()

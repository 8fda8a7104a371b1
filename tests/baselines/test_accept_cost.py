"""Accepting takes the graph and the trace cost of a check together, or neither, and no other environment's."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from guard.baselines import take as room
from guard.baselines.accept import Accepted, accept
from guard.baselines.costs import bound, dump, parse
from guard.baselines.disk import write_whole
from guard.baselines.meta import Meta
from guard.baselines.pending import Broken, digest, pending_cost_path, pending_path, read_pending, write_pending
from guard.baselines.section import Section
from guard.baselines.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from guard.config import Config

GRAPH = "guard-graph 1\ncheck a::b\ntracer make_fx\n\ngraph main(%a: f32[4]) -> (f32[4]) {\n  return %a\n}\n"
OLD = GRAPH.replace("%a", "%old")
KEY, OTHER = "torch 2.13.0", "torch 2.14.1"
WAS, NOW, THEIRS = Section(100, 0.01), Section(200, 0.01), Section(300, 0.5)
NO_CI: dict[str, str] = {}
CHECK = "a::b"


def stored(config: Config, graph: str | None = OLD, **sections: Section) -> None:
    """Record a graph, and a trace cost under ``here`` and ``there``."""
    store = Store(config)
    if graph is not None:
        write_whole(store.path(CHECK), graph.encode())
    named = {{"here": KEY, "there": OTHER}[name]: section for name, section in sections.items()}
    if named:
        write_whole(store.cost_path(CHECK), dump(CHECK, named))


def waits(config: Config, text: str | None = GRAPH, section: Section | None = NOW, **meta: Any) -> None:
    store = Store(config)
    baseline, cost = store.read(CHECK), store.read_cost(CHECK)
    made = Meta(
        torch="2.13.0",
        baseline=None if baseline is None else digest(baseline),
        action="record" if text is not None else "cost",
        cost=None if section is None else KEY,
        cost_baseline=None if section is None else bound(cost, CHECK, KEY),
    )
    file = None if section is None else dump(CHECK, {KEY: section})
    write_pending(config, CHECK, text, replace(made, **meta), file)


def took(config: Config) -> Accepted:
    return accept(config, [CHECK], environ=NO_CI)


def costs(config: Config) -> dict[str, Section]:
    return parse(Store(config).read_cost(CHECK) or b"", CHECK)


def refusal(config: Config) -> str:
    """Accept and return why it was refused; nothing was written."""
    files = {path: path.read_bytes() for path in config.baselines.rglob("*") if path.is_file()}
    (sentence,) = took(config).refused
    assert {path: path.read_bytes() for path in config.baselines.rglob("*") if path.is_file()} == files
    assert read_pending(config, CHECK) is not None
    return sentence


def test_both_are_taken_at_once(config: Config) -> None:
    waits(config)
    done = took(config)
    assert done.written[:2] == ("baselines/a/b.graph", "baselines/a/b.cost.json")
    assert (Store(config).read(CHECK), costs(config)) == (GRAPH.encode(), {KEY: NOW})
    assert read_pending(config, CHECK) is None
    assert not pending_cost_path(config, CHECK).exists()


def test_a_cost_alone_leaves_the_graph_and_other_environments_as_they_are(config: Config) -> None:
    stored(config, here=WAS, there=THEIRS)
    waits(config, text=None)
    assert took(config) == Accepted(written=("baselines/a/b.cost.json",), settled=(CHECK,))
    assert (Store(config).read(CHECK), costs(config)) == (OLD.encode(), {KEY: NOW, OTHER: THEIRS})


def test_a_graph_that_waits_without_a_cost_leaves_the_cost(config: Config) -> None:
    stored(config, here=WAS, there=THEIRS)
    waits(config, section=None)
    before = Store(config).read_cost(CHECK)
    assert "baselines/a/b.cost.json" not in took(config).written
    assert Store(config).read_cost(CHECK) == before


def test_a_cost_that_moved_since_is_refused_with_its_graph(config: Config) -> None:
    stored(config, here=WAS)
    waits(config)
    stored(config, here=WAS._replace(calls=101))
    assert "its trace cost has changed since the check ran" in refusal(config)


def test_another_environment_s_cost_may_move_meanwhile(config: Config) -> None:
    stored(config, here=WAS)
    waits(config)
    stored(config, here=WAS, there=THEIRS)
    assert not took(config).refused
    assert costs(config) == {KEY: NOW, OTHER: THEIRS}


def test_a_graph_that_moved_since_keeps_its_cost_back(config: Config) -> None:
    stored(config, here=WAS)
    waits(config, text=None)
    stored(config, GRAPH, here=WAS)
    assert "the baseline has changed since the check ran" in refusal(config)


def test_without_fixes_a_cost_is_refused(config: Config) -> None:
    stored(config)
    waits(config, text=None, fixes="off")
    assert "captured with --fixes off" in refusal(config)


def test_a_kill_between_the_two_is_finished_by_the_next_accept(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(config, here=WAS)
    waits(config)

    def dies(path: Path, data: bytes) -> None:
        if path.name.endswith(".cost.json"):
            raise KeyboardInterrupt
        write_whole(path, data)

    monkeypatch.setattr(room, "write_whole", dies)
    with pytest.raises(KeyboardInterrupt):
        took(config)
    monkeypatch.undo()
    assert (Store(config).read(CHECK), costs(config)) == (GRAPH.encode(), {KEY: WAS})
    assert took(config).settled == (CHECK,)
    assert (Store(config).read(CHECK), costs(config)) == (GRAPH.encode(), {KEY: NOW})


def test_what_is_there_already_is_settled_however_it_is_laid_out(config: Config) -> None:
    stored(config, GRAPH)
    path = Store(config).cost_path(CHECK)
    write_whole(path, dump(CHECK, {KEY: NOW}).replace(b"\n", b"\r\n"))
    waits(config, cost_baseline=None)
    assert took(config).settled == (CHECK,)
    assert b"\r\n" in path.read_bytes()


def test_a_file_that_does_not_parse_is_written_anew(config: Config) -> None:
    stored(config)
    path = Store(config).cost_path(CHECK)
    write_whole(path, b"<<<<<<< HEAD\n")
    waits(config, text=None)
    assert took(config).settled == (CHECK,)
    assert costs(config) == {KEY: NOW}


def test_a_removal_takes_both(config: Config) -> None:
    stored(config, here=WAS)
    waits(config, text=None, section=None, action="remove")
    assert took(config).removed == ("baselines/a/b.graph", "baselines/a/b.cost.json")
    assert not config.baselines.exists() or not any(config.baselines.iterdir())


def test_the_reason_of_the_graph_outlives_a_new_cost(config: Config) -> None:
    waits(config)
    accept(config, [CHECK], environ=NO_CI, reason="why")
    waits(config, text=None, section=Section(1, 0.01))
    took(config)
    assert 'a::b" = "why"' in (config.baselines / "reasons.toml").read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [("cost", 1), ("cost", None), ("cost_text", None), ("cost_text", "0" * 64), ("cost_baseline", []), ("action", "x")],
)
def test_a_tampered_record_is_broken(config: Config, key: str, value: object) -> None:
    waits(config)
    meta = pending_path(config, CHECK).with_name("b.graph.json")
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {key: value}))
    assert isinstance(read_pending(config, CHECK), Broken)


@pytest.mark.parametrize("file", [b"{", dump("a::c", {KEY: NOW}), dump(CHECK, {OTHER: NOW}), dump(CHECK, {})])
def test_a_pending_cost_that_is_not_this_one_is_refused(config: Config, file: bytes) -> None:
    stored(config)
    waits(config, text=None)
    path = pending_cost_path(config, CHECK)
    path.write_bytes(file)
    meta = pending_path(config, CHECK).with_name("b.graph.json")
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"cost_text": digest(file)}))
    assert "its pending trace cost is" in refusal(config)


def test_a_link_out_of_the_store_is_not_followed(config: Config, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    config.baselines.mkdir()
    (config.baselines / "a").symlink_to(tmp_path / "out", target_is_directory=True)
    waits(config, text=None)
    assert "leads out of the baselines folder" in took(config).refused[0]
    assert not any((tmp_path / "out").iterdir())

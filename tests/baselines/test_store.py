from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.baselines.read_costs import MAX_BYTES
from guard.baselines.store import Store
from guard.errors import GuardError

if TYPE_CHECKING:
    from guard.config import Config

HEADER = "guard-graph 1\ncheck {}\ntracer make_fx\n"


def put(config: Config, relative: str, text: str) -> None:
    path = config.baselines / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def test_an_empty_store(config: Config) -> None:
    assert Store(config).ids() == ()
    assert Store(config).read("a::b") is None


def test_ids_are_those_of_the_check_lines(config: Config) -> None:
    long = "a::" + "x" * 300
    for check in ("a::b[p/q]", "dtensor/a::T.b", long):
        put(config, str(Store(config).path(check).relative_to(config.baselines)), HEADER.format(check))
    assert Store(config).ids() == ("a::b[p/q]", long, "dtensor/a::T.b")


def test_read_gives_the_bytes(config: Config) -> None:
    put(config, "a/b.graph", "x\r\n")
    assert Store(config).read("a::b") == b"x\r\n"


def test_crlf_and_a_byte_order_mark_are_read_through(config: Config) -> None:
    put(config, "a/b.graph", "\ufeff" + HEADER.format("a::b").replace("\n", "\r\n"))
    assert Store(config).ids() == ("a::b",)


def test_a_file_in_another_s_place_is_an_error(config: Config) -> None:
    put(config, "a/b.graph", HEADER.format("a::c"))
    with pytest.raises(GuardError) as caught:
        Store(config).ids()
    assert caught.value.problem == '"baselines/a/b.graph" holds check "a::c", whose file is "baselines/a/c.graph"'


@pytest.mark.parametrize("text", ["", "guard-graph 1\n", "<<<<<<< ours\nguard-graph 1\ncheck a::c\n", "x\nchecka::c\n"])
def test_an_unreadable_head_falls_back_on_the_name(config: Config, text: str) -> None:
    put(config, "a/b[p%2Fq].graph", text)
    assert Store(config).ids() == ("a::b[p/q]",)


def test_an_unreadable_head_under_a_cut_name_is_an_error(config: Config) -> None:
    put(config, f"a/{Store(config).path('a::' + 'x' * 300).name}", "torn")
    with pytest.raises(GuardError, match='has no "check" line'):
        Store(config).ids()


def test_a_folder_in_a_baseline_s_place(config: Config) -> None:
    (config.baselines / "a" / "b.graph").mkdir(parents=True)
    assert Store(config).ids() == ()
    with pytest.raises(GuardError, match=r'"baselines/a/b\.graph" cannot be read'):
        Store(config).read("a::b")


def test_a_file_in_the_module_s_place_is_no_baseline(config: Config) -> None:
    put(config, "a", "")
    assert Store(config).read("a::b") is None


def test_headers_only(config: Config) -> None:
    put(config, "a/b.graph", HEADER.format("a::b") + "x" * 10_000)
    put(config, "a/c.graph", "guard-graph 1\ncheck " + "x" * 10_000)
    assert [entry.problem is None for entry in Store(config).entries()] == [True, False]


def test_a_trace_cost_is_read_beside_its_graph_but_never_more_of_it_than_is_read(config: Config) -> None:
    store = Store(config)
    path = store.cost_path("a::b[x]")
    assert store.read_cost("a::b[x]") is None
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{}")
    assert (store.shown(path), store.read_cost("a::b[x]")) == ("baselines/a/b[x].cost.json", b"{}")
    assert store.costs() == (path,)
    assert store.entries() == ()
    with path.open("wb") as stream:
        stream.truncate(1 << 34)
    assert len(store.read_cost("a::b[x]") or b"") == MAX_BYTES + 1


def test_a_trace_cost_that_is_no_file_is_refused(config: Config) -> None:
    path = Store(config).cost_path("a::b")
    path.mkdir(parents=True)
    with pytest.raises(GuardError, match=r'"baselines/a/b.cost.json" cannot be read: it is no file'):
        Store(config).read_cost("a::b")

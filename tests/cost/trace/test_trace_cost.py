"""Counting real captures."""

from __future__ import annotations

import gc
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.fx.experimental import proxy_tensor

from guard import Sizes
from guard.cost.calls import TraceCost
from guard.cost.trace import cost as cost_module
from guard.cost.trace import trace_cost
from guard.cost.trace.captures import EXTRA, counted
from guard.cost.trace_compare import TOLERANCE, compare, section
from guard.errors import UsageError
from guard.specs import Compile, MakeFx
from guard.tracers.capture import Job, capture
from guard.tracers.mesh import Meshes, clear_sharding_caches
from tests.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

X = torch.ones(4)
PROGRAMS = Path(__file__).with_name("counted_programs.py")


@pytest.fixture(autouse=True)
def fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this process for a worker: no count here is compared with another process's."""
    monkeypatch.setattr(cost_module, "unfit", lambda: None)


def chain(length: int) -> Callable[[torch.Tensor], torch.Tensor]:
    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(length):
            x = x.sin()
        return x

    return program


def taken(job: Job, **options: Any) -> TraceCost:
    capture(job, check="a::b", fixes="off")
    found = trace_cost(job, fixes="off", **options)
    assert isinstance(found, TraceCost), found
    return found


def job(program: Callable[..., Any], *args: Any, tracer: Any = None) -> Job:
    return Job(tracer or MakeFx("fake"), program, args or (X,), {})


def started(seed: int, names: tuple[str, ...]) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(seed), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(PROGRAMS), *names]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def counts(*runs: tuple[int, tuple[str, ...]]) -> list[dict[str, int]]:
    """Count captures in processes of their own, side by side: each has a hash seed and an order."""
    processes = [started(*run) for run in runs]
    return [json.loads(process.communicate(timeout=200)[0]) for process in processes]


def test_processes_with_other_hash_seeds_and_orders_count_the_same() -> None:
    names = ("fake", "joint", "sharded joint")
    first, second = counts((0, names), (7, names[::-1]))
    assert first == second
    assert all(calls > 1000 for calls in first.values())


@pytest.mark.prove
def test_what_compiled_before_is_not_counted_and_the_hash_seed_moves_little() -> None:
    names = ("real", "symbolic", "compile")
    first, again, other = counts((0, names), (0, names[::-1]), (7, names))
    assert first == again
    assert other["real"] == first["real"]
    # the order of sets is part of what these two do
    assert other == {name: pytest.approx(calls, rel=0.002) for name, calls in first.items()}


def test_counting_leaves_the_process_as_it_was() -> None:
    taken(job(chain(3)))
    assert sys.getprofile() is None
    assert gc.isenabled()


def test_planted_calls_are_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = job(chain(10))
    before = taken(subject)
    create = proxy_tensor.PythonKeyTracer.create_node

    def more(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = create(self, *args, **kwargs)
        len(str(node.op))  # a call of C; str is a class, which is none
        return node

    monkeypatch.setattr(proxy_tensor.PythonKeyTracer, "create_node", more)
    after = taken(subject)
    nodes = 10 + 2  # with the placeholder and the output
    assert after.calls - before.calls == 2 * nodes  # an entry and a call each
    grown = {name: count - dict(before.functions).get(name, 0) for name, count in after.functions}
    assert max(grown, key=lambda name: grown[name]) == f"{Path(__file__).relative_to(ROOT).as_posix()}:" + (
        "test_planted_calls_are_counted_one_by_one.<locals>.more" if sys.version_info >= (3, 11) else "more"
    )


@pytest.mark.parametrize("share", [0.01, 0.02, 0.05])
def test_more_calls_than_the_tolerance_are_a_finding(share: float) -> None:
    more = [0]

    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(more[0]):
            len(())
        return chain(20)(x)

    before = taken(job(program))
    accepted = section(before, TOLERANCE)
    assert compare(accepted, taken(job(program)), None).state == "holds"
    more[0] = int(before.calls * share) + 1
    found = compare(accepted, taken(job(program)), None)
    assert found.state == "worse"
    assert found.title.startswith(f"+{100 * share:.1f} %: ")
    assert any("test_more_calls_than_the_tolerance_are_a_finding" in line for line in found.lines)


def test_a_program_that_does_more_each_time_has_no_count() -> None:
    more = itertools.count(1)

    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(next(more)):
            x = x.sin()
        return x

    captures = next(more)
    found = trace_cost(job(program), fixes="off")
    assert str(found).startswith(f"no two counts in a row are equal in {EXTRA} captures: ")
    assert next(more) - captures - 1 == EXTRA


def test_a_known_count_takes_one_capture() -> None:
    captures: list[int] = []

    def program(x: torch.Tensor) -> torch.Tensor:
        captures.append(1)
        return x.sin()

    known = taken(job(program)).calls
    captures.clear()
    again = trace_cost(job(program), fixes="off", known=(known,))
    assert isinstance(again, TraceCost)
    assert (again.calls, len(captures)) == (known, 1)


def test_instructions_are_those_of_a_capture_without_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks: list[object] = []

    class Counter:
        def start(self) -> int:
            return 1

        def end(self, _: int, /) -> int:
            return 12_345

    def program(x: torch.Tensor) -> torch.Tensor:
        hooks.append(sys.getprofile())
        return x.sin()

    monkeypatch.setattr(cost_module, "available", Counter)
    assert taken(job(program)).instructions == 12_345
    assert hooks[-1] is None


def test_a_failed_capture_has_no_trace_cost() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x

    assert trace_cost(job(program, tracer=MakeFx("symbolic")), fixes="off") == "a capture that fails has no trace cost"


def test_a_tracer_that_runs_under_a_tracer_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the real check of this process
    sys.settrace(trace := sys.gettrace() or (lambda *_: None))
    try:
        assert trace_cost(job(chain(1)), fixes="off") == "a debugger or coverage is tracing"
    finally:
        sys.settrace(trace if trace is sys.gettrace() and hasattr(trace, "config") else None)


def test_where_a_count_was_taken_is_its_key() -> None:
    found = taken(job(chain(1))).key
    assert found.torch == f"{torch.__version__} git-{torch.version.git_version[:12]}"
    assert found.python == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert found.fixes == ()


def sized(size: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return chain(size), (X,)


def test_a_linear_program_is_linear() -> None:
    growth = taken(job(chain(1)), sizes=Sizes(sized)).growth
    assert growth is not None
    assert growth.exponent == pytest.approx(1.0, abs=0.01)
    assert growth.beyond_linear == pytest.approx(0.0, abs=0.002)


def test_a_quadratic_program_is_quadratic() -> None:
    growth = taken(job(chain(1)), sizes=Sizes(lambda size: sized(size * size), at=(3, 6, 12))).growth
    assert growth is not None
    assert growth.exponent == pytest.approx(2.0, abs=0.01)


def test_a_quadratic_lookup_in_the_tracer_is_seen_among_linear_work(monkeypatch: pytest.MonkeyPatch) -> None:
    create = proxy_tensor.PythonKeyTracer.create_node

    def looked_up(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = create(self, *args, **kwargs)
        # through all nodes before: what a list in place of a dict would do
        return next(other for other in self.graph.nodes if id(other) == id(node))

    monkeypatch.setattr(proxy_tensor.PythonKeyTracer, "create_node", looked_up)
    growth = taken(job(chain(1)), sizes=Sizes(sized, at=(16, 32, 64))).growth
    assert growth is not None
    assert growth.beyond_linear > 0.015
    assert growth.exponent is not None
    assert growth.exponent > 1.04


def test_a_size_that_does_not_trace_is_named() -> None:
    def make(size: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return chain(size), (X if size < 16 else "no tensor",)

    subject = job(chain(1))
    found = trace_cost(subject, fixes="off", sizes=Sizes(make))
    assert found == "at size 16: a capture that fails has no trace cost"


def test_sizes_that_make_no_program_are_refused() -> None:
    sizes: Any = Sizes(chain)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"wanted make\(8\) to return \(program, \(argument, ...\)\), got function"):
        trace_cost(job(chain(1)), fixes="off", sizes=sizes)


def test_sizes_that_fail_are_the_users_error() -> None:
    def make(size: int) -> Any:
        raise ValueError(f"no program of {size}\nand more")

    with pytest.raises(UsageError, match=r"^Sizes: make\(8\) raised ValueError: no program of 8$"):
        trace_cost(job(chain(1)), fixes="off", sizes=Sizes(make))


def test_propagations_are_counted_where_the_sharding_cache_is_off() -> None:
    meshes = Meshes()
    mesh = meshes.mesh((2,), ("tp",))

    def program(x: torch.Tensor) -> Any:
        return DTensor.from_local(x, mesh, [Shard(0)]).sin().redistribute(mesh, [Replicate()]).cos().to_local()

    def uncached(x: torch.Tensor) -> Any:
        clear_sharding_caches()
        return program(x)

    try:
        warm, cold = (taken(job(subject, tracer=MakeFx("fake"))) for subject in (program, uncached))
    finally:
        meshes.close()
    # torch < 2.13 asks no cache while it traces
    assert warm.propagations == (0 if torch.__version__ >= "2.13" else cold.propagations)
    assert cold.propagations is not None
    assert cold.propagations >= 2


def test_a_compiled_program_with_a_break_settles() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()

    found = taken(job(program, tracer=Compile()))
    assert found.calls > 1000
    assert all(not name.startswith("/") and "site-packages" not in name for name, _ in found.functions)


def test_what_guard_itself_does_is_not_counted() -> None:
    tally = counted(job(chain(1)), fixes="off", cache=None).tally
    assert any("guard/tracers" in code.co_filename for code in tally.codes.values())
    assert not any("guard/tracers" in code.co_filename for code, _ in tally.counted())

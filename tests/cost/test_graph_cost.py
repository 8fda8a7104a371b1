"""Graph cost, measure by measure: each planted difference moves its measure, by the bytes that one can count."""

from __future__ import annotations

from typing import Any

import pytest

from guard.cost.amount import text
from guard.cost.graph import program_cost
from guard.ir.parser import parse_program


def cost(body: str, signature: str = "%x: f32[64, 64]", outputs: str = "f32[64, 64]", rest: str = "") -> Any:
    source = f"guard-graph 1\ncheck a::b\ntracer t\n{rest}\ngraph main({signature}) -> ({outputs}) {{\n{body}\n}}\n"
    return program_cost(parse_program(source)).total


BASE = """\
  %0: f32[64, 64] = aten.relu.default(%x)
  return %0"""
SIZE = 64 * 64 * 4


def test_bytes_of_one_operation() -> None:
    found = cost(BASE)
    assert (found.nodes, found.ops) == (1, {"aten.relu.default": 1})
    assert (found.read, found.written, found.peak, found.rewritten) == (SIZE, SIZE, 2 * SIZE, 0)


@pytest.mark.parametrize(
    ("node", "read", "written"),
    [
        # copies
        ("%1: f32[64, 64] = aten.clone.default(%x)", SIZE, SIZE),
        ("%1: f64[64, 64] = aten._to_copy.default(%x, dtype=f64)", SIZE, 2 * SIZE),
        ("%1: f32[4096] = aten.reshape.default(%t, [4096]) {alias %t}", SIZE, SIZE),
        ("%1: f32[64, 64] = aten.contiguous.default(%t) {alias %t}", SIZE, SIZE),
        ("%1: f16[64, 64] = aten.to.dtype(%x, f16) {alias %x}", SIZE, SIZE // 2),
        # views
        ("%1: f32[4096] = aten.view.default(%x, [4096]) {alias %x}", 0, 0),
        ("%1: f32[4096] = aten.reshape.default(%x, [4096]) {alias %x}", 0, 0),
        ("%1: f32[4096] = aten._unsafe_view.default(%x, [4096])", 0, 0),
        ("%1: f32[64, 64] = aten.contiguous.default(%x) {alias %x}", 0, 0),
        ("%1: f32[64, 64] = aten.to.dtype(%x, f32) {alias %x}", 0, 0),
        ("%1: f32[9, 64, 64]{0, 64, 1} = aten.expand.default(%x, [9, 64, 64]) {alias %x}", 0, 0),
        # what is read is what lies in memory
        ("%1: f32[64, 64] = aten.add.Tensor(%row, 1)", 256, SIZE),
        ("%1: f32[64, 64] = aten.mul.Tensor(%x, %x)", SIZE, SIZE),
        ("%1: f32[2, 64] = aten.index.Tensor(%x, [%i])", 2 * 256 + 16, 2 * 256),
        ("%1: f32[2, 64] = aten.embedding.default(%x, %i)", 2 * 256 + 16, 2 * 256),
        # allocations
        ("%1: f32[64, 64] = aten.empty_like.default(%x)", 0, 0),
        ("%1: f32[64, 64] = aten.ones_like.default(%x)", 0, SIZE),
        ("%1: SymInt(64) = aten.sym_size.int(%x, 0)", 0, 0),
        # in place
        ("_: f32[64, 64] = aten.add_.Tensor(%x, %x) {write %x, alias %x}", SIZE, SIZE),
        ("_: f32[64, 64] = aten.copy_.default(%x, %t) {write %x, alias %x}", SIZE, SIZE),
        ("_: f32[64, 64] = aten.zero_.default(%x) {write %x, alias %x}", 0, SIZE),
        ("_: f32[64, 64] = aten.index_put_.default(%x, [%i], %two) {write %x, alias %x}", 16 + 512, 512),
        # what the mask leaves out
        ("_: f32[64, 64], %1: f32[64] = aten.thing_backward.default(%x, [False, True])", SIZE, 256),
    ],
)
def test_what_a_node_reads_and_writes(node: str, read: int, written: int) -> None:
    signature = "%x: f32[64, 64], %t: f32[64, 64]{1, 64}, %row: f32[64, 64]{0, 1}, %i: i64[2], %two: f32[2, 64]"
    found = cost(f"  {node}\n  return %x", signature)
    assert (found.read, found.written, found.untyped) == (read, written, 0)


def test_casts_and_device_copies() -> None:
    found = cost("""\
  %0: f64[64, 64] = aten._to_copy.default(%x, dtype=f64)
  %1: f32[64, 64]@cuda:0 = aten._to_copy.default(%x, device=device(cuda:0))
  _: f64[64, 64] = aten.copy_.default(%0, %x) {write %0, alias %0}
  return %x""")
    assert found.casts == {"f32 -> f64": (2, 4 * SIZE)}
    assert found.copies == {"cpu -> cuda:0": (1, SIZE)}


def test_collectives_by_name_and_group() -> None:
    found = cost("""\
  %0: f32[64, 64] = _c10d_functional.all_reduce.default(%x, "sum", group(0, 1)) {comm 0, 1}
  %1: f32[64, 64] = _c10d_functional.wait_tensor.default(%0)
  %2: f32[256, 64] = _c10d_functional.all_gather_into_tensor.default(%1, 4, group(0, 1, 2, 3)) {comm 0, 1, 2, 3}
  %3: f32[256, 64] = _c10d_functional.wait_tensor.default(%2)
  return %3""")
    assert found.collectives == {("all_reduce", 2): (1, SIZE), ("all_gather_into_tensor", 4): (1, 4 * SIZE)}
    assert (found.read, found.written) == (2 * SIZE, 5 * SIZE)


def test_peak_follows_program_order() -> None:
    late = """\
  %0: f32[64, 64] = aten.relu.default(%x)
  %1: f32[64] = aten.sum.dim_IntList(%0, [0])
  %2: f32[64, 64] = aten.sin.default(%x)
  %3: f32[64] = aten.sum.dim_IntList(%2, [0])
  return %1, %3"""
    lines = late.splitlines()
    early = "\n".join([lines[0], lines[2], lines[1], *lines[3:]])
    assert cost(late, outputs="f32[64], f32[64]").peak == 2 * SIZE + 2 * 256
    assert cost(early, outputs="f32[64], f32[64]").peak == 3 * SIZE + 256
    assert cost(early, outputs="f32[64], f32[64]").written == cost(late, outputs="f32[64], f32[64]").written


def test_a_view_keeps_its_storage_alive() -> None:
    found = cost(
        """\
  %0: f32[64, 64] = aten.relu.default(%x)
  %1: f32[4096] = aten.view.default(%0, [4096]) {alias %0}
  %2: f32[64, 64] = aten.sin.default(%x)
  %3: f32[] = aten.sum.default(%1)
  return %3""",
        outputs="f32[]",
    )
    assert found.peak == 3 * SIZE


def test_bytes_rewritten_in_inputs() -> None:
    """x[0] += 1 writes a row through a view, or all of x where it was made functional."""
    row = """\
  %0: f32[64] = aten.select.int(%x, 0, 0) {alias %x}
  %1: f32[64] = aten.add_.Tensor(%0, 1) {write %0, alias %0}
  return %x"""
    whole = """\
  %0: f32[64] = aten.select.int(%x, 0, 0) {alias %x}
  %1: f32[64] = aten.add.Tensor(%0, 1)
  %2: f32[64, 64] = aten.select_scatter.default(%x, %1, 0, 0)
  _: f32[64, 64] = aten.copy_.default(%x, %2) {write %x, alias %x}
  return %x"""
    caller = whole.replace("  _: f32[64, 64] = aten.copy_.default(%x, %2) {write %x, alias %x}\n", "").replace(
        "return %x", "return %2"
    )
    assert cost(row).rewritten == 256
    assert cost(whole).rewritten == SIZE
    assert cost(caller, outputs="mutated %x: f32[64, 64]").rewritten == SIZE
    own = row.replace("%x, 0, 0) {alias %x}", "%c, 0, 0) {alias %c}")
    assert cost(f"  %c: f32[64, 64] = aten.clone.default(%x)\n{own}").rewritten == 0


def test_events() -> None:
    found = cost(BASE, rest='break "print" at "print(x)"\nrecompile "size"\nrecompile "size"\n')
    assert (found.breaks, found.recompiles) == (1, 2)


def test_symbolic_sizes_give_symbolic_costs() -> None:
    found = cost(
        "  %0: f32[s0, 2*s1] = aten.relu.default(%x)\n  return %0", "%x: f32[s0, s1*2]", outputs="f32[s0, s1*2]"
    )
    assert (text(found.read), text(found.peak)) == ("s0*s1*8", "s0*s1*16")


def test_bodies_count_at_each_call() -> None:
    source = """\
guard-graph 1
check a::b
tracer t

graph main(%p: b8[], %x: f32[64, 64]) -> (f32[64, 64]) {
  %0: f32[64, 64] = higher_order.cond(%p, @body_1, @body_2, [%x])
  %1: f32[64, 64] = higher_order.cond(%p, @body_1, @body_1, [%0])
  return %1
}

body body_1(%x: f32[64, 64]) -> (f32[64, 64]) {
  %0: f32[64, 64] = aten.sin.default(%x)
  %1: f32[64, 64] = aten.cos.default(%0)
  return %1
}

body body_2(%x: f32[64, 64]) -> (f32[64, 64]) {
  %0: f32[64, 64] = aten.sin.default(%x)
  return %0
}
"""
    found = program_cost(parse_program(source)).total
    assert (found.nodes, found.ops["aten.sin.default"], found.written) == (9, 4, 7 * SIZE)
    # x, the first call's result, and what body_1 holds
    assert found.peak == 1 + 4 * SIZE


def test_what_has_no_size_is_told() -> None:
    found = cost("  %0: ? = aten.relu.default(%x)\n  %1: f32[4] layout(sparse_coo) = aten.sin.default(%x)\n  return %x")
    assert (found.untyped, found.written) == (2, 0)

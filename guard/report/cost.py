"""What a program costs, as text beside its graphs or as JSON. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guard.cost.amount import evaluate, text
from guard.cost.compare import describe, grouped
from guard.cost.trace_compare import MOST, exponent, power_text
from guard.ir.printer import print_graph, print_node, print_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard.baselines.section import Section
    from guard.cost.amount import Amount
    from guard.cost.compare import Difference
    from guard.cost.graph import Cost, GraphCost, ProgramCost
    from guard.cost.node import NodeCost
    from guard.ir.graph import Program

WIDTH = 100
"""Columns of a graph beyond which its margin moves right for one line."""


def as_text(program: Program, cost: ProgramCost, sizes: Mapping[str, int]) -> str:
    """Print graphs, each node on one line with its cost behind ``#``, then the totals; what is free has no margin.

    Args:
        program: what is printed.
        cost: its cost.
        sizes: of symbols, as far as they are to be put in.
    """
    header = print_program(replace(program, graphs=(), bodies=())).splitlines()[: 3 + len(program.events)]
    blocks = ["\n".join(header)]
    blocks += ["\n".join(_graph(one, sizes, "graph")) for one in cost.graphs]
    blocks += ["\n".join(_graph(one, sizes, "body")) for one in cost.bodies]
    return "\n\n".join([*blocks, "\n".join(_totals(cost.total, sizes))]) + "\n"


def as_record(cost: Cost, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return totals as plain data; an amount with symbols is text."""

    def plain(value: Amount) -> int | str:
        found = evaluate(value, sizes)
        return found if isinstance(found, int) else text(found)

    return {
        "nodes": cost.nodes,
        "ops": dict(sorted(cost.ops.items())),
        "flops": None if cost.flops is None else plain(cost.flops),
        "no_formula": dict(sorted(cost.no_formula.items())),
        "read": plain(cost.read),
        "written": plain(cost.written),
        "rewritten": plain(cost.rewritten),
        "peak": plain(cost.peak),
        "collectives": [
            {"name": name, "ranks": ranks, "count": tally.times, "bytes": plain(tally.bytes)}
            for (name, ranks), tally in sorted(cost.collectives.items())
        ],
        **{
            key: [
                {"name": kind, "count": tally.times, "bytes": plain(tally.bytes)}
                for kind, tally in sorted(tallies.items())
            ]
            for key, tallies in (("copies", cost.copies), ("casts", cost.casts))
        },
        "breaks": cost.breaks,
        "recompiles": cost.recompiles,
        "untyped": cost.untyped,
    }


def difference_record(found: Difference, lines: tuple[str, ...]) -> dict[str, Any]:
    """Return what two programs cost differently as plain data."""

    def plain(value: Amount) -> int | str:
        return value if isinstance(value, int) else text(value)

    deltas = [
        {"name": delta.name, "baseline": plain(delta.was), "current": plain(delta.now), "more": delta.more}
        for delta in found.deltas
    ]
    return {"deltas": deltas, "lines": list(lines)}


def _graph(one: GraphCost, sizes: Mapping[str, int], opening: str) -> Iterator[str]:
    frame = print_graph(replace(one.graph, nodes=()), opening).splitlines()
    end = max(place for place, line in enumerate(frame) if line.startswith("  return"))
    yield from frame[:end]
    rows = [f"  {print_node(node)}" for node in one.graph.nodes]
    margins = [describe(_evaluated(cost, sizes), flops=one.total.flops is not None) for cost in one.nodes]
    column = min(max((len(row) for row, margin in zip(rows, margins, strict=True) if margin), default=0), WIDTH)
    for row, margin in zip(rows, margins, strict=True):
        yield f"{row:<{column}}  # {margin}" if margin else row
    yield from frame[end:]


def _evaluated(cost: NodeCost, sizes: Mapping[str, int]) -> NodeCost:
    if not sizes:
        return cost
    sent = cost.collective
    return cost._replace(
        flops=None if cost.flops is None else evaluate(cost.flops, sizes),
        read=evaluate(cost.read, sizes),
        written=evaluate(cost.written, sizes),
        collective=None if sent is None else sent._replace(bytes=evaluate(sent.bytes, sizes)),
    )


def _totals(cost: Cost, sizes: Mapping[str, int]) -> Iterator[str]:
    def shown(value: Amount) -> str:
        return grouped(evaluate(value, sizes))

    yield f"nodes {cost.nodes:,}: {', '.join(f'{count} {target}' for target, count in _most_first(cost.ops))}"
    yield f"flops {'n/a: no torch' if cost.flops is None else shown(cost.flops)}"
    for target, count in _most_first(cost.no_formula):
        yield f"flops of {count} {target} not counted: torch has no formula"
    yield f"bytes read {shown(cost.read)}, written {shown(cost.written)}, of these {shown(cost.rewritten)} in inputs"
    yield f"peak live bytes {shown(cost.peak)}"
    for (name, ranks), tally in sorted(cost.collectives.items()):
        yield f"collectives: {tally.times} {name} among {ranks}, bytes {shown(tally.bytes)}"
    for label, tallies in (("device copies", cost.copies), ("casts", cost.casts)):
        for kind, tally in sorted(tallies.items()):
            yield f"{label}: {tally.times} {kind}, bytes {shown(tally.bytes)}"
    if cost.breaks or cost.recompiles:
        yield f"graph breaks {cost.breaks}, recompiles {cost.recompiles}"
    if cost.untyped:
        yield f"{cost.untyped} nodes with a value of unknown size, which counts as nothing"


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def traces_text(sections: Mapping[str, Section]) -> str:
    """Print the accepted trace costs of a check, an environment after the other."""
    return "".join(f"{line}\n" for key in sorted(sections) for line in _trace(key, sections[key]))


def traces_record(sections: Mapping[str, Section]) -> list[dict[str, Any]]:
    """Return the accepted trace costs of a check as plain data."""
    return [_trace_record(key, sections[key]) for key in sorted(sections)]


def _trace_record(key: str, section: Section) -> dict[str, Any]:
    growth = None if section.growth is None else {"sizes": list(section.growth[0]), "calls": list(section.growth[1])}
    return {
        "environment": key,
        **section._asdict(),
        "functions": dict(section.functions),
        "growth": growth,
        "exponent": exponent(section),
    }


def _trace(key: str, section: Section) -> Iterator[str]:
    yield f"trace calls {section.calls:,}, tolerance {100 * section.tolerance:g} %, under {key}"
    for name, count in _most_first(dict(section.functions))[:MOST]:
        yield f"  {count:,} {name}"
    if section.propagations is not None:
        yield f"  sharding propagations that no cache answered {section.propagations:,}"
    power = exponent(section)
    if section.growth is not None and power is not None:
        pairs = ", ".join(f"{calls:,} at {size:,}" for size, calls in zip(*section.growth, strict=True))
        yield f"  grows {power_text(power)}: {pairs}"
    if section.instructions is not None:
        yield f"  instructions {section.instructions:,}"

"""What a current graph costs more or less than its baseline, and the nodes that make the difference. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from guard.cost.amount import sign, text, trend
from guard.cost.node import FREE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from guard.cost.amount import Amount
    from guard.cost.graph import Cost, GraphCost, ProgramCost, Tally
    from guard.cost.node import NodeCost
    from guard.ir.graph import Node

NO_FLOPS = "note: flops n/a: torch is not installed, or has no formulas that guard can ask"
MOST = 3
"""Nodes that are named."""


_Key = TypeVar("_Key")
# Where a rise has terms with both signs
_TRENDS = {1: "higher", -1: "lower", None: "higher or lower with the sizes"}


class Place(NamedTuple):
    """One node of a program."""

    graph: str
    node: int


class Delta(NamedTuple):
    """One measure in which two programs differ."""

    name: str
    was: Amount
    now: Amount

    @property
    def more(self) -> bool:
        """Current costs more, or it depends on the sizes which one does."""
        return trend(self.now - self.was) != -1

    def __str__(self) -> str:
        """Print ``flops 1.20x`` or ``bytes written +4096``."""
        rise = self.now - self.was
        if self.name == "flops" and isinstance(self.was, int) and isinstance(self.now, int) and self.was > 0:
            return f"{self.name} {_ratio(self.now / self.was)}"
        known = sign(rise)
        if known is None:
            return f"{self.name} {_TRENDS[trend(rise)]}"
        return f"{self.name} {'+' if known > 0 else '-'}{grouped(rise if known > 0 else -rise)}"


class Dearer(NamedTuple):
    """A node of current whose cost none of the baseline's has."""

    place: Place
    node: Node
    cost: NodeCost


class Difference(NamedTuple):
    """What two programs cost differently."""

    deltas: tuple[Delta, ...]
    dearer: tuple[Dearer, ...] = ()
    """In program order."""
    several: bool = False
    """Current has more than one graph."""
    no_flops: bool = False
    """FLOPs may differ, and there were no formulas to tell."""

    @property
    def more(self) -> tuple[Delta, ...]:
        """Measures in which current costs more."""
        return tuple(delta for delta in self.deltas if delta.more)


def difference(baseline: ProgramCost, current: ProgramCost, changed: Collection[tuple[str, int]] = ()) -> Difference:
    """Compare two programs.

    Args:
        baseline: Reviewed.
        current: What this run captured.
        changed: Nodes of current, by graph and position, that are known to differ: of several nodes that cost alike,
            these are named.
    """
    deltas = tuple(_deltas(baseline.total, current.total))
    if not any(delta.more for delta in deltas):
        return Difference(deltas)
    several = len(current.graphs) + len(current.bodies) > 1
    found = [one for one in _surplus(baseline, current, changed) if any(_in(one.cost, delta) for delta in deltas)]
    return Difference(deltas, tuple(found), several)


def lines(found: Difference) -> tuple[str, ...]:
    """Say in a line what costs more or less, then name the nodes that cost more; nothing where both cost the same."""
    if not found.deltas:
        return (NO_FLOPS,) if found.no_flops else ()
    texts = ["flops n/a"] if found.no_flops else []
    texts += [str(delta) for delta in (*found.more, *(delta for delta in found.deltas if not delta.more))]
    lead = "costs more" if found.more else "note: cheaper"
    return (f"{lead}: {', '.join(texts)}", *_nodes(found))


def describe(cost: NodeCost, *, flops: bool = True) -> str:
    """Say what one node costs: ``flops 2048, read 512, written 256``."""
    parts = []
    if cost.flops is None and flops:
        parts.append("flops ?")
    elif cost.flops and flops:
        parts.append(f"flops {grouped(cost.flops)}")
    parts += [f"{name} {grouped(size)}" for name, size in (("read", cost.read), ("written", cost.written)) if size != 0]
    if cost.collective is not None:
        parts.append(f"sends {grouped(cost.collective.bytes)} among {cost.collective.ranks}")
    parts += [move.kind for move in (cost.copy, cost.cast) if move is not None]
    return ", ".join(parts)


def _ratio(value: float) -> str:
    """Print a ratio that never reads 1.00: it is printed because it is another."""
    for digits in (2, 4, 6):
        if float(shown := f"{value:.{digits}f}") not in (0.0, 1.0):
            return f"{shown}x"
    return f"{value!r}x"


def grouped(value: Amount) -> str:
    """Print ``4,096`` or ``s0*4``."""
    return f"{value:,}" if isinstance(value, int) else text(value)


def _deltas(was: Cost, now: Cost) -> Iterator[Delta]:
    if was.flops is not None and now.flops is not None:
        yield from _delta("flops", was.flops, now.flops)
    for kind in sorted({*was.no_formula, *now.no_formula}):
        yield from _delta(f"{kind} without a formula", was.no_formula[kind], now.no_formula[kind])
    yield from _delta("bytes read", was.read, now.read)
    yield from _delta("bytes written", was.written, now.written)
    yield from _delta("bytes rewritten in inputs", was.rewritten, now.rewritten)
    yield from _delta("peak live bytes", was.peak, now.peak)
    for name, ranks in sorted({*was.collectives, *now.collectives}):
        yield from _tallies(f"{name} among {ranks}", was.collectives, now.collectives, (name, ranks))
    for kind in sorted({*was.copies, *now.copies}):
        yield from _tallies(f"copies {kind}", was.copies, now.copies, kind)
    for kind in sorted({*was.casts, *now.casts}):
        yield from _tallies(f"casts {kind}", was.casts, now.casts, kind)
    yield from _delta("graph breaks", was.breaks, now.breaks)
    yield from _delta("recompiles", was.recompiles, now.recompiles)


def _tallies(name: str, was: Mapping[_Key, Tally], now: Mapping[_Key, Tally], key: _Key) -> Iterator[Delta]:
    a, b = was.get(key), now.get(key)
    if a and b and a.times == b.times:
        yield from _delta(f"bytes of {name}", a.bytes, b.bytes)
    else:
        yield from _delta(name, a.times if a else 0, b.times if b else 0)


def _delta(name: str, was: Amount, now: Amount) -> Iterator[Delta]:
    if was != now:
        yield Delta(name, was, now)


def _in(cost: NodeCost, delta: Delta) -> bool:
    """Tell whether a node has some of what there is more of."""
    if not delta.more:
        return False
    measures: dict[str, Callable[[], object]] = {
        "flops": lambda: cost.flops,
        "bytes read": lambda: cost.read,
        "bytes written": lambda: cost.written,
        "peak live bytes": lambda: cost.fresh,
        "bytes rewritten in inputs": lambda: cost.written,
    }
    if delta.name in measures:
        return measures[delta.name]() != 0
    moves = [move.kind for move in (cost.copy, cost.cast) if move is not None]
    names = [f"{cost.collective.name} among {cost.collective.ranks}"] if cost.collective else []
    return cost.flops is None or any(text in delta.name for text in (*moves, *names))


def _surplus(baseline: ProgramCost, current: ProgramCost, changed: Collection[tuple[str, int]]) -> list[Dearer]:
    """Give the nodes of current whose target and cost the baseline has not so often: known ones first, then the last.

    Counted over the whole program: a node that moved to another graph is no other node.
    """
    left: Counter[tuple[str, NodeCost]] = Counter(
        (node.target, cost) for one in (*baseline.graphs, *baseline.bodies) for node, cost in _priced(one)
    )
    nodes = [
        Dearer(Place(one.graph.name, place), node, cost)
        for one in (*current.graphs, *current.bodies)
        for place, (node, cost) in enumerate(zip(one.graph.nodes, one.nodes, strict=True))
        if cost is not FREE
    ]
    order = sorted(nodes, key=lambda one: one.place in changed)
    found = set()
    for one in order:
        key = one.node.target, one.cost
        if left[key] > 0:
            left[key] -= 1
        else:
            found.add(one.place)
    return [one for one in nodes if one.place in found]


def _priced(one: GraphCost) -> Iterator[tuple[Node, NodeCost]]:
    return ((node, cost) for node, cost in zip(one.graph.nodes, one.nodes, strict=True) if cost is not FREE)


def _nodes(found: Difference) -> Iterator[str]:
    for one in found.dearer[:MOST]:
        graph = f"{one.place.graph} " if found.several else ""
        name = next((f"%{result.name}" for result in one.node.results if result.name is not None), "_")
        source = f"  {one.node.source}" if one.node.source else ""
        yield f"  at {graph}{name} {one.node.target}: {describe(one.cost)}{source}"
    if len(found.dearer) > MOST:
        yield f"  and {len(found.dearer) - MOST} more nodes"

"""Name what moved between two programs: one change a cause. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.drift.change import CLASSES, Change
from guard.drift.comparison import Comparison
from guard.drift.edits import edits
from guard.drift.kinds import short
from guard.drift.known import Evidence, known
from guard.drift.render import Row, item_rows, layout, node_rows, role_rows
from guard.drift.textdiff import diff
from guard.drift.titles import after, counted, signature_title, title
from guard.ir.canonical import equal
from guard.ir.collector import without_collection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.drift.causes import Cause
    from guard.drift.signature import Item
    from guard.ir.graph import Event, Graph, Node, Program

# Changes of one class that are told one by one: beyond it they are counted together
MOST = 6


class Part(NamedTuple):
    """One cause in one pair of graphs."""

    kind: str
    title: str
    where: Comparison
    cause: Cause


def changes(baseline: Program, current: Program) -> tuple[Change, ...]:
    """Return what moved, most telling class first; nothing where the two are equal, and only there.

    Neither program is an error: that a capture fails, or no longer does, is no drift.
    """
    with without_collection():
        names = [[graph.name for graph in program.graphs] for program in (baseline, current)]
        header = [*_tracer(baseline, current), *_events(baseline, current), *_graphs(baseline, current)]
        pairs = list(_paired(baseline.graphs, current.graphs))
        compared = [Comparison(a, b) for a, b in pairs]
        certain = bool(header) or names[0] != names[1] or any(one.certainly_differs() for one in compared)
        if not certain and equal(baseline, current):
            return ()
        compared = _with_bodies(compared, baseline, current)
        parts = _parts(compared)
        found = [*header, *_signatures(compared, parts), *_nodes(compared, parts)]
        found = _merge_breaks(found)
    return tuple(sorted(found, key=lambda change: CLASSES.index(change.kind))) or (_rest(baseline, current),)


def _tracer(baseline: Program, current: Program) -> Iterator[Change]:
    was, now = baseline.tracer, current.tracer
    if was != now:
        yield Change("signature", f"tracer {was} -> {now}", (f"- tracer {was}", f"+ tracer {now}"))


def _events(baseline: Program, current: Program) -> Iterator[Change]:
    """Tell of graph breaks and recompiles: each is a new specialization."""
    was, now = [event[:3] for event in baseline.events], [event[:3] for event in current.events]
    found = edits(was, now)
    gone = [baseline.events[place] for edit in found for place in range(edit.a, edit.b)]
    come = [current.events[place] for edit in found for place in range(edit.c, edit.d)]
    if gone or come:
        rows = [Row("- ", _event(event)) for event in gone]
        rows += [Row("+ ", _event(event), event.source) for event in come]
        counts = [_count(sign, events) for sign, events in (("+", come), ("-", gone)) if events]
        source = next((event.source for event in come if event.source), None)
        yield Change("specialization", ", ".join(counts), layout(rows), source=source)


def _event(event: Event) -> str:
    return f'{event.kind} "{event.reason}"{f" at {event.code}" if event.code else ""}'


def _count(sign: str, events: Sequence[Event]) -> str:
    names = {"break": "graph break", "recompile": "recompile"}
    kinds = [event.kind for event in events]
    texts = [f"{sign}{kinds.count(kind)} {names.get(kind, kind)}" for kind in dict.fromkeys(kinds)]
    return ", ".join(text if text.startswith(f"{sign}1 ") else f"{text}s" for text in texts)


def _graphs(baseline: Program, current: Program) -> Iterator[Change]:
    was, now = ({graph.name: graph for graph in program.graphs} for program in (baseline, current))
    gone = [graph for name, graph in was.items() if name not in now]
    come = [graph for name, graph in now.items() if name not in was]
    if gone or come:
        texts = [f"{sign}{len(graphs)} graph{'' if len(graphs) == 1 else 's'}: {', '.join(g.name for g in graphs)}"
                 for sign, graphs in (("+", come), ("-", gone)) if graphs]  # fmt: skip
        rows = [Row("- ", f"graph {g.name}: {len(g.nodes)} nodes") for g in gone]
        rows += [Row("+ ", f"graph {g.name}: {len(g.nodes)} nodes") for g in come]
        yield Change("structure", "; ".join(texts), layout(rows))
    elif list(was) != list(now):
        lines = (f"- graphs {', '.join(was)}", f"+ graphs {', '.join(now)}")
        yield Change("structure", "order of graphs", lines)


def _paired(baseline: Sequence[Graph], current: Sequence[Graph]) -> Iterator[tuple[Graph, Graph]]:
    known_graphs = {graph.name: graph for graph in baseline}
    return ((known_graphs[graph.name], graph) for graph in current if graph.name in known_graphs)


def _with_bodies(compared: list[Comparison], baseline: Program, current: Program) -> list[Comparison]:
    """Align the graphs, then the bodies that their paired calls use, each pair once."""
    bodies_a, bodies_b = ({body.name: body for body in program.bodies} for program in (baseline, current))
    seen: set[tuple[str, str]] = set()
    found = []
    queue = list(compared)
    while queue:
        one = queue.pop(0)
        one.align()
        found.append(one)
        for pair in one.bodies() if bodies_a and bodies_b else ():
            if pair not in seen:
                seen.add(pair)
                queue.append(Comparison(bodies_a[pair[0]], bodies_b[pair[1]]))
    return found


def _signatures(compared: Sequence[Comparison], parts: Sequence[Part]) -> Iterator[Change]:
    """Tell of the signature once a class; graphs of one program share their causes."""
    by_kind: dict[str, list[tuple[Comparison, Item]]] = {}
    for one in compared:
        for item in one.items:
            by_kind.setdefault(item.kind, []).append((one, item))
    wake = sum(one.behind_inputs for one in compared)
    for kind, found in by_kind.items():
        items = list(dict.fromkeys(item for _one, item in found))
        text = signature_title(items)
        if kind == "specialization":
            text = _sizes(compared) or text
            own = [part for part in parts if part.kind == kind]
            rows = [*item_rows(items), *_rows(own)]
            yield Change(kind, text + after(wake), layout(rows), source=_source(own))
        else:
            follows = after(wake) if kind == "signature" and "specialization" not in by_kind else ""
            yield Change(kind, text + follows, layout(item_rows(items)))


def _sizes(compared: Sequence[Comparison]) -> str:
    """Say which symbols became numbers, and which numbers symbols."""
    texts = [f"{name} -> {size}" for one in compared for name, size in one.symbols.constant.items()]
    texts += [f"{size} -> {name}" for one in compared for name, size in one.symbols.free.items()]
    return ", ".join(dict.fromkeys(texts))


def _parts(compared: Sequence[Comparison]) -> list[Part]:
    """Give all causes with their classes."""
    return [
        Part(one.judge.kind(cause), title(one.alignment, cause), one, cause) for one in compared for cause in one.causes
    ]


def _nodes(compared: Sequence[Comparison], parts: Sequence[Part]) -> Iterator[Change]:
    """Tell of nodes: all leaks at once, others where they happened, the same one in many places once."""
    told = any(item.kind == "specialization" for one in compared for item in one.items)
    groups: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        if part.kind != "specialization" or not told:
            key = "" if part.kind in ("proxy-leak", "specialization") else part.title
            groups.setdefault((part.kind, key), []).append(part)
    for kind in CLASSES:
        found = [parts for (its, _title), parts in groups.items() if its == kind]
        if len(found) > MOST:
            found = [[part for parts in found for part in parts]]
        yield from (_change(kind, parts) for parts in found)


def _change(kind: str, parts: list[Part]) -> Change:
    texts = list(dict.fromkeys(part.title for part in parts))
    added, removed = _loose(parts)
    if len(texts) == 1 and kind != "proxy-leak":
        text = texts[0] if len(parts) == 1 else f"{texts[0]}, {len(parts)} times"
    elif added or removed:
        text = counted(added, removed)
    else:
        text = f"{sum(len(part.cause.changed) for part in parts)} nodes"
    text += after(sum(part.cause.wake for part in parts))
    where = list(dict.fromkeys(part.where for part in parts))
    evidence = Evidence(
        kind,
        tuple(short(node.target) for node in added),
        tuple(short(node.target) for node in removed),
        any(one.judge.a.distributed or one.judge.b.distributed for one in where),
        any(one.backward for one in where),
    )
    return Change(kind, text, layout(_rows(parts)), known(evidence), _source(parts), _places(parts))


def _loose(parts: Sequence[Part]) -> tuple[list[Node], list[Node]]:
    """Give the nodes whose operator is in one program only: of current, of the baseline."""
    added: list[Node] = []
    removed: list[Node] = []
    for part in parts:
        alignment, cause = part.where.alignment, part.cause
        a, b = alignment.a.graph.nodes, alignment.b.graph.nodes
        called = [node for node, facts in sorted(cause.changed.items()) if "call" in facts]
        added += [b[node] for node in (*cause.added, *called)]
        removed += [a[node] for node in (*cause.removed, *(alignment.of_b[node] for node in called))]
    return added, removed


def _rows(parts: Sequence[Part]) -> list[Row]:
    """Give the rows of all parts, graph by graph; each is named where there are several."""
    graphs = list(dict.fromkeys(part.where for part in parts))
    rows: list[Row] = []
    for one in graphs:
        rows += [Row("  ", f"in {one.name}:")] if len(graphs) > 1 else []
        causes = [part.cause for part in parts if part.where is one]
        rows += node_rows(one.alignment, causes) + role_rows(one.alignment, causes)
    return rows


def _source(parts: Sequence[Part]) -> str | None:
    for part in parts:
        nodes = part.where.alignment.b.graph.nodes
        for node in sorted((*part.cause.added, *part.cause.changed)):
            if nodes[node].source:
                return nodes[node].source
    return None


def _places(parts: Sequence[Part]) -> frozenset[tuple[str, int]]:
    return frozenset((part.where.name, node) for part in parts for node in (*part.cause.added, *part.cause.changed))


def _merge_breaks(found: list[Change]) -> list[Change]:
    """Let a graph break tell of the graphs that it made: they are no cause of their own."""
    told = next((change for change in found if "graph break" in change.title), None)
    graphs = [change for change in found if change.kind == "structure" and " graph" in change.title]
    if told is None or not graphs:
        return found
    lines = [told.lines, *(change.lines for change in found if change.kind == "structure")]
    kept = [change for change in found if change is not told and change.kind != "structure"]
    one = Change(told.kind, told.title, tuple(line for some in lines for line in some), told.known, told.source)
    return [one, *kept]


def _rest(baseline: Program, current: Program) -> Change:
    """Tell of programs that differ in what equal calls share: no call by itself says so."""
    found = diff(baseline, current)
    return Change("structure", "equal calls share other values", found.lines)

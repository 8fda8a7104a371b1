"""What one accept writes: the graph and the trace cost of a check, and why it must not. Under accept's lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.baselines import costs, pending
from guard.baselines.costs import CostSyntaxError
from guard.baselines.disk import remove, write_whole
from guard.baselines.names import quoted
from guard.errors import GraphSyntaxError
from guard.ir.parser import parse_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from guard.baselines.pending import Pending
    from guard.baselines.section import Section
    from guard.baselines.store import Store


class Plan(NamedTuple):
    """The files of one check that an accept changes, in their order; bytes to be, or None where the file goes."""

    writes: tuple[tuple[Path, bytes | None], ...] = ()
    refusal: str | None = None
    """Why nothing of it may be written."""

    def carry_out(self, top: Path) -> None:
        """Write: whole files only, so that a kill between two leaves what a second accept finishes.

        Raises:
            OSError: The disk does not take one; those before it are written.
        """
        for path, data in self.writes:
            if data is None:
                remove(path, top)
            else:
                write_whole(path, data)


def plan(store: Store, found: Pending) -> Plan:
    """Decide what accepting one pending capture writes; nothing where an earlier accept, killed after it, has."""
    graph, cost = _graph(store, found), _cost(store, found)
    writes = (*graph.writes, *cost.writes)
    refusal = _unfit(store, found, writes) if writes else None
    return Plan(writes, refusal or graph.refusal or cost.refusal)


def _unfit(store: Store, found: Pending, writes: tuple[tuple[Path, bytes | None], ...]) -> str | None:
    if found.meta.fixes == "off":
        return "it was captured with --fixes off"
    if found.meta.unfaithful is not None and found.meta.action != "remove":
        return f"the graph is unfaithful, {found.meta.unfaithful}"
    outside = [path for path, _ in writes if not _inside(path, store.config.baselines)]
    return f'"{store.shown(outside[0])}" leads out of the baselines folder' if outside else None


def _inside(path: Path, top: Path) -> bool:
    """Tell whether no link on the way leads elsewhere; the file itself is replaced, never followed."""
    return path.parent.resolve().is_relative_to(top.resolve())


def _graph(store: Store, found: Pending) -> Plan:
    baseline = store.read(found.check)
    moved = (None if baseline is None else pending.digest(baseline)) != found.meta.baseline
    refusal = "the baseline has changed since the check ran" if moved else None
    if found.meta.action == "cost":
        return Plan(refusal=refusal)
    if baseline == found.text:
        return Plan()
    if found.text is not None:
        path = store.path(found.check)
        return Plan(((path, found.text),), refusal or _wrong_text(found.check, found.text, store.shown(path)))
    return Plan(((store.path(found.check), None),), refusal)


def _wrong_text(check: str, text: bytes, shown: str) -> str | None:
    try:
        program = parse_bytes(text, shown)
    except GraphSyntaxError as error:
        return f"its pending file does not parse ({error.problem})"
    return None if program.check == check else f"its pending file holds check {quoted(program.check)}"


def _cost(store: Store, found: Pending) -> Plan:
    path = store.cost_path(found.check)
    if found.meta.action == "remove":
        return Plan(((path, None),)) if path.exists() else Plan()
    if found.cost is None:
        return Plan()
    before = store.read_cost(found.check)
    try:
        sections = costs.parse(found.cost, found.check, "its pending cost")
    except CostSyntaxError as error:
        return Plan(((path, found.cost),), f"its pending trace cost is not right ({error.problem})")
    if found.meta.cost is None or set(sections) != {found.meta.cost}:
        return Plan(((path, found.cost),), "its pending trace cost is of another environment")
    after = costs.merged(before, found.check, sections)
    if after == before or _has(before, found.check, sections):
        return Plan()
    moved = costs.bound(before, found.check, found.meta.cost) != found.meta.cost_baseline
    return Plan(((path, after),), "its trace cost has changed since the check ran" if moved else None)


def _has(data: bytes | None, check: str, wanted: dict[str, Section]) -> bool:
    """Tell whether a file has these sections already, however it is laid out."""
    try:
        return data is not None and wanted.items() <= costs.parse(data, check).items()
    except CostSyntaxError:
        return False

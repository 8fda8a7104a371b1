"""Trace costs that a branch re-recorded, put to the rows of ``guard diff --since``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.baselines import costs
from guard.baselines.costs import CostSyntaxError
from guard.baselines.names import COST_SUFFIX, SUFFIX, check_of
from guard.cost.trace_compare import judge
from guard.findings import Finding
from guard.policy import TRACE_COST
from guard.report.since import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from guard.baselines.rerecorded import Rerecorded
    from guard.baselines.section import Section


def with_costs(rows: Sequence[Row], files: Iterable[Rerecorded], folder: str, why: Mapping[str, str]) -> list[Row]:
    """Return the rows, with what moved of trace costs that were accepted before and after under one environment.

    Args:
        rows: of the graphs.
        files: of the branch; those that hold no trace cost are passed over.
        folder: of the baselines, with a slash behind it.
        why: the reasons that the branch gave.
    """
    found = {row.path: row for row in rows}
    for file in files:
        if file.path.endswith(COST_SUFFIX):
            graph = file.path.removesuffix(COST_SUFFIX) + SUFFIX
            row = _row(file, found.get(graph), graph.removeprefix(folder), why)
            if row is not None:
                found[graph] = row
    return list(found.values())


def _row(file: Rerecorded, row: Row | None, graph: str, why: Mapping[str, str]) -> Row | None:
    """Return the row of a check, None where there is nothing to add to it."""
    check = row.check if row is not None else costs.check_of(file.after or file.before or b"") or check_of(graph)
    shown = check or file.path
    try:
        before, after = _sections(file.before, f"{file.path} of before"), _sections(file.after, file.path)
    except CostSyntaxError as error:
        return Row(shown, file.path, "unreadable", problem=str(error))
    moved = tuple(_moved(shown, before, after))
    if not moved or (row is not None and row.status not in ("changed", "same")):
        return None
    known = row if row is not None else Row(shown, file.path, "changed", reason=why.get(shown, ""))
    return known._replace(status="changed", changes=(*known.changes, *moved))


def _sections(data: bytes | None, path: str) -> dict[str, Section]:
    return {} if data is None else costs.parse(data, path=path)


def _moved(check: str, before: Mapping[str, Section], after: Mapping[str, Section]) -> Iterator[Finding]:
    for key in sorted(before.keys() & after.keys()):
        judged = judge(before[key], after[key])
        if judged.title:
            yield Finding(TRACE_COST, check, f"trace cost {judged.title}", judged.lines)

"""The baselines that a branch re-recorded, as text, markdown or JSON; each cause once. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.names import quoted
from guard.report import markdown
from guard.report.differences import change
from guard.report.groups import cause, listed
from guard.report.json import dump
from guard.report.terminal import clean, rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from guard.findings import Finding

# In the order of the page: what changed is what a reviewer is here for. "same" is a file whose graphs are the same.
STATUSES = ("unreadable", "changed", "added", "removed", "same")
FOLD = 40
"""Rows of one change that markdown shows: a comment of GitHub's holds 65,536 characters."""


class Row(NamedTuple):
    """One baseline."""

    check: str
    path: str
    """Relative to the project's root."""
    status: str
    """One of STATUSES."""
    changes: tuple[Finding, ...] = ()
    was: str | None = None
    """Of one that was added, a removed one that had the same graphs: it may be its former id."""
    reason: str = ""
    problem: str = ""
    """Why it does not parse."""
    nodes: int = 0
    graphs: str = ""
    """Digest of its text but for the check's id."""

    @property
    def title(self) -> str:
        """What happened to it, in a line."""
        if self.status in ("added", "removed"):
            nodes = f"{self.nodes} node{'' if self.nodes == 1 else 's'}"
            return f"{nodes}, as {quoted(self.was)} had, which is removed" if self.was else nodes
        if self.status == "same":
            return "the same graphs, but for names and legal order"
        return self.problem or "; ".join(finding.title for finding in self.changes)


class Group(NamedTuple):
    """Rows of one cause and reason."""

    first: Row
    checks: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """All of them."""

    ref: str
    base: str
    """Merge base: full hash."""
    rows: tuple[Row, ...]
    environment: tuple[str, ...] = ()
    """``torch 2.13.0 -> 2.14.1``."""

    def only(self, checks: Sequence[str]) -> Page:
        """Keep the rows of some checks."""
        return replace(self, rows=tuple(row for row in self.rows if row.check in checks))

    def counts(self) -> dict[str, int]:
        """Count by status, in the order of the page; zeros left out."""
        found = Counter(row.status for row in self.rows)
        return {status: found[status] for status in STATUSES if found[status]}

    def classes(self) -> dict[str, int]:
        """Count the baselines in which each class of drift is found, most first."""
        found = Counter(kind for row in self.rows for kind in {one.drift or one.kind for one in row.changes})
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def groups(self) -> tuple[Group, ...]:
        """Put baselines together that changed alike and for the same reason."""
        groups: dict[Hashable, list[Row]] = {}
        for row in sorted(self.rows, key=lambda row: STATUSES.index(row.status)):
            alike = (*map(cause, row.changes),) if row.status == "changed" else row.check
            groups.setdefault((row.status, row.reason, alike), []).append(row)
        return tuple(Group(found[0], tuple(row.check for row in found)) for found in groups.values())

    def summary(self) -> str:
        """``3 changed, 1 added since "main" (merge base 1a2b3c4d5e): 2 structure, 1 proxy-leak``."""
        counts = ", ".join(f"{count} {status}" for status, count in self.counts().items()) or "no baseline re-recorded"
        classes = ", ".join(f"{count} {kind}" for kind, count in self.classes().items())
        return f'{counts} since "{self.ref}" (merge base {self.base[:10]}){f": {classes}" if classes else ""}'


def as_text(page: Page, *, color: bool = False, verbose: bool = False) -> str:
    """Print a line a group, the checks of each, and with ``verbose`` the rows that changed."""
    lines = [line for group in page.groups() for line in _group(group, color=color, verbose=verbose)]
    lines += [f"environment: {clean(moved)}" for moved in page.environment]
    return "".join(f"{line}\n" for line in (*lines, page.summary()))


def _group(group: Group, *, color: bool, verbose: bool) -> Iterator[str]:
    row, others = group.first, group.checks[1:]
    more = f" and {len(others)} more" if others else ""
    yield clean(f"{row.status}: {quoted(row.check)}{more} - {row.title}")
    for finding in row.changes if verbose else ():
        if len(row.changes) > 1:
            yield f"  {clean(finding.title)}"
        yield from rows(finding.lines, color=color)
    if row.reason:
        yield f"  reason: {clean(row.reason)}"
    if others:
        yield "  the same in"
        yield from (f"    {clean(line)}" for line in listed(others))


def as_markdown(page: Page) -> str:
    """Print what a pull request's comment or a job's summary shows: a table, and each change folded below it."""
    groups = page.groups()
    lines = [f"### Baselines since {markdown.code(page.ref)}", "", markdown.text(page.summary()), ""]
    if page.environment:
        lines += [f"Recorded in another environment: {', '.join(map(markdown.code, page.environment))}", ""]
    if groups:
        lines += ["| | baseline | what moved | reason |", "|---|---|---|---|", *map(_table_row, groups), ""]
    for group in groups:
        if group.first.changes:
            lines += _details(group, page)
    return "\n".join(lines).rstrip("\n") + "\n"


def _table_row(group: Group) -> str:
    row, more = group.first, len(group.checks) - 1
    name = f"{markdown.cell(row.check)}{f' and {more} more' if more else ''}"
    return f"| {row.status} | {name} | {markdown.cell(row.title)} | {markdown.cell(row.reason)} |"


def _details(group: Group, page: Page) -> Iterator[str]:
    row = group.first
    yield f"<details><summary>{markdown.html(row.check)}: {markdown.html(row.title)}</summary>"
    yield ""
    if len(group.checks) > 1:
        yield f"The same in {', '.join(map(markdown.code, group.checks[1:]))}."
        yield ""
    lines = [line for finding in row.changes for line in (f"# {finding.title}", *finding.lines)]
    if len(lines) > FOLD:
        more = f"guard diff --since {quoted(page.ref)} {quoted(row.check)}"
        lines = [*lines[:FOLD], f"# {len(lines) - FOLD} more lines: {more}"]
    yield from markdown.fence(lines, "diff")
    yield "</details>"
    yield ""


def as_json(page: Page) -> str:
    """Print the page for a program; docs/json.md documents the keys."""
    return dump(
        {
            "since": page.ref,
            "merge_base": page.base,
            "counts": page.counts(),
            "classes": page.classes(),
            "environment": list(page.environment),
            "baselines": [_plain(row) for row in page.rows],
        }
    )


def _plain(row: Row) -> dict[str, object]:
    keys = ("check", "path", "status", "was", "reason", "problem", "nodes")
    return {**{key: getattr(row, key) for key in keys}, "changes": [change(one) for one in row.changes]}

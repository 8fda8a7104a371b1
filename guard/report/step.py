"""A run as the page that a job shows: a table, each change folded below it, what the branch re-recorded. Pure.

Everything that a check, its torch or its names may have written stands in code: there, GitHub reads no markdown and no
HTML, links nothing and mentions nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.report import markdown
from guard.report.groups import listed
from guard.report.order import causes
from guard.report.since import as_markdown as since_markdown
from guard.report.summary import summary
from guard.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.findings import Run
    from guard.report.order import Cause
    from guard.report.since import Page

LIMIT = 1_000_000
"""Bytes. GitHub takes 1 MiB of a step, and shows nothing of one that wrote more."""
ROWS = 100
"""Lines of one change."""
TRIES = 20
TABLE = 0.4
"""Part of the page that the table may fill: some of the changes are to fit, too."""


class Rerecorded(NamedTuple):
    """What the branch did to the baselines."""

    page: Page | None = None
    problem: str = ""
    """Why it is not known; "" where nobody asked, too."""


NOTHING = Rerecorded()


def as_markdown(run: Run, rerecorded: Rerecorded = NOTHING, *, limit: int = LIMIT) -> str:
    """Print the page; what does not fit is left out in whole rows and sections, and the last lines say how many."""
    found = causes(run)
    page = _Page(limit - 500)
    page.add(_head(run))
    if found:
        page.add(("| | check | what | who moved it |", "|---|---|---|---|"))
        rows = [page.add((_row(one),), share=TABLE) for one in found]
        page.add(("", f"The table leaves out {rows.count(False)} more.") if not all(rows) else ())
        page.add(("",))
    folded = _add_folds(page, found)
    page.add(
        (f"{len(found) - folded} of {len(found)} changes do not fit here: see the log.", "")
        if folded < len(found)
        else ()
    )
    page.add(tuple(f"- {markdown.code(note)}" for note in run.notes) + ("",) * bool(run.notes))
    _add_rerecorded(page, rerecorded)
    return page.text()


def _add_folds(page: _Page, found: Sequence[Cause]) -> int:
    """Add the changes that fit, and return how many; after TRIES that do not, none is written any more."""
    fitting = 0
    for number, one in enumerate(found):
        fitting += page.add(tuple(_fold(one)))
        if number - fitting > TRIES:
            break
    return fitting


class _Page:
    """Lines, as long as they fit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._lines: list[str] = []

    def add(self, lines: tuple[str, ...], share: float = 1.0) -> bool:
        """Add lines if all of them fit."""
        size = sum(len(line.encode("utf-8", "backslashreplace")) + 1 for line in lines)
        if self._used + size > self._limit * share:
            return False
        self._used += size
        self._lines += lines
        return True

    def text(self) -> str:
        return "\n".join(self._lines).rstrip("\n") + "\n"


def _head(run: Run) -> tuple[str, ...]:
    known = [f"torch {run.environment['torch']}"] if run.environment.get("torch") else []
    known += [f"Python {run.environment['python']}"] if run.environment.get("python") else []
    known += [run.environment[key] for key in ("platform", "device") if run.environment.get(key)]
    known += [f"commit {run.commit[:10]}"] if run.commit else []
    return f"### guard: {markdown.text(summary(run))}", "", ", ".join(map(markdown.code, known)), ""


def _row(one: Cause) -> str:
    finding = one.group.first
    kind = f"warning, {finding.kind}" if one.warned else finding.kind
    kind += f": {finding.drift}" if finding.drift else ""
    return f"| {kind} | {_name(one)} | {markdown.cell(finding.title)} | {finding.by} |"


def _name(one: Cause) -> str:
    name = one.group.first.check or one.outcome.nodeid
    return f"{markdown.cell(name)}{f' and {one.more} more' if one.more else ''}" if name else ""


def _fold(one: Cause) -> Iterator[str]:
    finding = one.group.first
    said = [line for text in finding.lines for line in clean(text).split("\n")]
    if len(said) > ROWS:
        said = [*said[:ROWS], f"# {len(said) - ROWS} more lines in the log"]
    aside = [*finding.cost, *finding.evidence]
    aside += [f"policy lets it pass: {finding.reason}"] if one.warned and finding.reason else []
    if not said and not aside and one.group.fix is None:
        return
    yield f"<details><summary>{finding.kind}: {markdown.html(finding.check)} {markdown.html(finding.title)}</summary>"
    yield ""
    if said:
        yield from markdown.fence(said, "diff")
    if aside:
        yield from markdown.fence(aside, "text")
    if one.more:
        yield f"The same in {', '.join(map(markdown.code, listed(one.group.checks[1:])))}."
        yield ""
    if one.group.fix is not None:
        yield from markdown.fence([one.group.fix], "console")
    yield "</details>"
    yield ""


def _add_rerecorded(page: _Page, rerecorded: Rerecorded) -> None:
    if rerecorded.page is not None and not page.add(tuple(since_markdown(rerecorded.page).splitlines())):
        page.add(
            (
                f"### Baselines since {markdown.code(rerecorded.page.ref)}",
                "",
                markdown.text(rerecorded.page.summary()),
                "",
                "The list does not fit here.",
            )
        )
    elif rerecorded.problem:
        page.add((f"Which baselines this branch re-recorded is not known: {markdown.code(rerecorded.problem)}",))

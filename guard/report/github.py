"""A run as a GitHub Actions log shows it: the terminal's text, and annotations on the checks' lines. Pure.

The commands: docs.github.com/actions/reference/workflows-and-actions/workflow-commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.baselines.names import quoted
from guard.report.order import causes, place
from guard.report.summary import summary
from guard.report.terminal import clean, render
from guard.verdict import HOLD, exit_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.findings import Run
    from guard.report.order import Cause

MOST = 10
"""Annotations of one level that GitHub shows of one step."""
ROWS = 12
"""Lines of a finding that an annotation repeats; the log and the summary have all."""


def as_log(run: Run, *, word: str, prefix: str = "", verbose: bool = False) -> str:
    """Print the text, in which nothing is a command to the runner, then the annotations.

    Args:
        run: what was seen.
        word: that nobody can guess. The runner obeys any line that begins with ``::``, and messages hold what checks
            and their torch say.
        prefix: the project's folder below the repository's root, "" or ``sub/folder/``.
        verbose: as of the terminal.
    """
    text = render(run, verbose=verbose)
    return f"::stop-commands::{word}\n{text}::{word}::\n" + "".join(f"{line}\n" for line in commands(run, prefix))


def commands(run: Run, prefix: str = "") -> Iterator[str]:
    """Yield at most ``MOST`` commands, worst first, each cause once; the last says how many are left out."""
    all_causes = causes(run)
    shown = all_causes if len(all_causes) <= MOST else all_causes[: MOST - 1]
    yield from (_annotation(one, prefix) for one in shown)
    left = len(all_causes) - len(shown)
    if left:
        yield command(
            "error" if exit_code(run) != HOLD else "warning",
            f"and {left} more: see the summary of this job",
            title="guard",
        )
    if not all_causes and exit_code(run) != HOLD:
        yield command("error", summary(run), title="guard")


def command(name: str, message: str, **properties: str) -> str:
    """Spell a workflow command; whatever the values hold, it is one line and one command."""
    spelled = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{name}{' ' if spelled else ''}{spelled}::{_data(message)}"


def _annotation(one: Cause, prefix: str) -> str:
    finding = one.group.first
    path, line = place(finding, one.outcome)
    more = f" and {one.more} more" if one.more else ""
    subject = f": {quoted(finding.check)}{more}" if finding.check else ""
    body = [finding.title, *finding.lines[:ROWS], *finding.evidence[:1]]
    body += [f"{len(finding.lines) - ROWS} more lines in the log"] * (len(finding.lines) > ROWS)
    body += [one.group.fix] if one.group.fix is not None else []
    return command(
        "warning" if one.warned else "error",
        clean("\n".join(body)),
        file=f"{prefix}{path}" if path else "",
        line=str(line or (1 if path else "")),
        title=clean(f"{finding.kind}{subject}"),
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

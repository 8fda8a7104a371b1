"""What becomes of a run that was seen: printed in the format that was asked for, and written into a report's folder."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.disk import write_whole
from guard.baselines.git import GitError
from guard.commands.provenance import below_repository
from guard.commands.since import rerecorded_page
from guard.errors import GuardError
from guard.report import color, github, json, sarif, terminal
from guard.report.step import LIMIT, Rerecorded, as_markdown

if TYPE_CHECKING:
    from guard.commands.options import ReportFormat
    from guard.config import Config
    from guard.findings import Run

RUN, SUMMARY, SARIF = "run.json", "summary.md", "guard.sarif"


class Wanted(NamedTuple):
    """How a run is to be told."""

    format: ReportFormat = "text"
    verbose: bool = False
    report: Path | None = None
    """Folder."""


def publish(config: Config, run: Run, wanted: Wanted) -> None:
    """Write the report, then print, and add to the job's summary.

    Raises:
        GuardError: The folder, or the job's summary, cannot be written.
    """
    if wanted.report is None and wanted.format != "github":
        _print(run, wanted, "")
        return
    prefix, rerecorded = below_repository(config.root), _rerecorded(config, run)
    if wanted.report is not None:
        texts = {
            RUN: json.render(run),
            SUMMARY: as_markdown(run, rerecorded),
            SARIF: sarif.as_sarif(run, prefix=prefix, home=config.checks_prefix),
        }
        _write(wanted.report, texts)
    _print(run, wanted, prefix)
    if wanted.format == "github":
        _add_to_summary(run, rerecorded)


def _print(run: Run, wanted: Wanted, prefix: str) -> None:
    if wanted.format == "json":
        print(json.render(run), end="")
    elif wanted.format == "github":
        token = secrets.token_hex(16)
        print(github.as_log(run, token=token, prefix=prefix, verbose=wanted.verbose), end="", flush=True)
    else:
        painted = color.wanted(sys.stdout, os.environ)
        print(terminal.render(run, color=painted, verbose=wanted.verbose), end="")


def _rerecorded(config: Config, run: Run) -> Rerecorded:
    """List what a pull request re-recorded; of a run that is split, once, where its parts are merged."""
    base = os.environ.get("GITHUB_BASE_REF")
    if not base or run.shard is not None:
        return Rerecorded()
    try:
        return Rerecorded(rerecorded_page(config, f"origin/{base}"))
    except GuardError as error:
        tip = f"; {error.tip}" if isinstance(error, GitError) and error.tip else ""
        return Rerecorded(problem=f"{error.problem}{tip}")


def _write(folder: Path, texts: dict[str, str]) -> None:
    try:
        for name, text in texts.items():
            write_whole(folder / name, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise GuardError(f'"{folder}" cannot be written: {error.strerror}', "--report wants a folder") from error


def _add_to_summary(run: Run, rerecorded: Rerecorded) -> None:
    """Append to the page of this step; what the step has written before counts as well."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("ab") as stream:
            page = as_markdown(run, rerecorded, limit=LIMIT - stream.tell())
            stream.write(page.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise GuardError(f'"{path}" cannot be written: {error.strerror}', "it is GITHUB_STEP_SUMMARY") from error
